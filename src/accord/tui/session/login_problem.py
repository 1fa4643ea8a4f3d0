"""A required login, as the agent describes it in the data of its error."""

from __future__ import annotations

from typing import NamedTuple

from accord.errors import AuthRequired


class LoginProblem(NamedTuple):
    """A login that is missing, or a key that was rejected."""

    reason: str
    provider: str = ""
    """The name of the provider whose key is needed; empty if the agent didn't say."""
    is_rejected: bool = False

    @classmethod
    def of(cls, error: AuthRequired) -> LoginProblem:
        """Read the data of an error. The built-in agent names the provider; most agents send no data."""
        data = error.data if isinstance(error.data, dict) else {}
        provider, title, key = (data.get(name) for name in ("provider", "providerTitle", "key"))
        source = key.get("source") if isinstance(key, dict) else None
        if not isinstance(provider, str) or not isinstance(title, str):
            return cls("")
        if data.get("rejected") is True:
            where = f" in {source}" if isinstance(source, str) and source else ""
            return cls(f"{title} rejected the key{where}", provider, True)
        return cls(f"{title} needs a key", provider)

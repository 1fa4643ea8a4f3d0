"""Says what went wrong with a provider: who, what, what to do; and whether to ask again."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from accord.coder.models import catalog
from accord.coder.models.base import ModelError
from accord.coder.models.hearing import Cut
from accord.coder.models.services import Service
from accord.config.mask import masked

if TYPE_CHECKING:
    from accord.coder.keys import Key
    from accord.config.coder import CoderSettings

_LONGEST = 400
_CONTEXT = re.compile(r"\bcontext (size|length|window)\b", re.IGNORECASE)
"""How servers of all kinds say that a request is too long for their model."""


class Trouble:
    """What can go wrong with one model of one provider."""

    def __init__(self, service: Service, name: str, key: Key | None, settings: CoderSettings | None = None) -> None:
        self.service = service
        self.name = name
        self.key = key
        self.settings = settings

    def error(self, error: Exception, *, heard: bool) -> ModelError:
        """What to raise in place of what a provider's library raised. `heard`: a part of the answer had come."""
        from pydantic_ai import exceptions as theirs

        match error:
            case ModelError():
                return error
            case _ if isinstance(error, Cut) or (not heard and "ended without content" in str(error)):
                return self._say("ended its answer in the middle; ask again", retry=True)
            case theirs.ModelRequestTimeout() | theirs.ModelTimeoutError():
                return self._say("did not answer in time; ask again", retry=True)
            case theirs.ModelConnectionError():
                return self._connection(error, heard=heard)
            case theirs.ModelHTTPError():
                return self._refusal(error)
            case _:
                return self._strange(error, heard=heard)

    def _refusal(self, error: Any) -> ModelError:
        """It answered no."""
        from pydantic_ai import exceptions as theirs

        said = f"({error.status_code}{self._words(error.body)})"
        match error:
            case theirs.ModelAuthenticationError():
                return self.no_key(said)
            case theirs.ModelNotFoundError():
                return self._no_model(said)
            case theirs.ModelContextWindowExceededError():
                return self._too_long(said)
            case theirs.ModelQuotaExceededError():
                return self._say(f"says that the account has nothing left to spend {said}; see its billing page")
            case theirs.ModelRateLimitError():
                return self._say(f"asks for fewer requests {said}", retry=True, after=error.retry_after)
            case theirs.ModelOverloadedError() | theirs.ModelUnavailableError():
                return self._say(f"is overloaded {said}", retry=True, after=error.retry_after)
            case theirs.ModelServerError():
                return self._say(f"failed {said}", retry=True, after=error.retry_after)
        if error.status_code == 413 or (error.status_code == 400 and _CONTEXT.search(said)):
            return self._too_long(said)
        retry = error.status_code in (408, 409, 425) or error.provider_retry_hint is True
        return self._say(f"refused the request {said}", retry=retry, after=error.retry_after)

    def no_key(self, said: str = "") -> ModelError:
        """The key is missing, or is not accepted."""
        service = self.service
        login = f"accord agent login {service.name}"
        if self.key is None:
            words = f"{service.title} needs a key {said}".rstrip()
            return ModelError(f"{words}: set {service.variable}, or run: {login}", kind="key")
        place = "in the keyring" if self.key.source == "keyring" else f"in {self.key.source}"
        return ModelError(
            f"{service.title} does not accept the key {place} {said}: set {service.variable}, or run: {login}",
            kind="key",
        )

    def _no_model(self, said: str) -> ModelError:
        id = f"{self.service.name}:{self.name}"
        close = [each for each in catalog.nearest(id, self.settings) if each != id]
        hint = f"did you mean {' or '.join(close)}?" if close else "choose another model"
        return ModelError(f"{self.service.title} has no model {self.name!r} {said}: {hint}", kind="model")

    def _too_long(self, said: str) -> ModelError:
        words = f"the conversation is longer than {self.name} can read {said}: compact it with /compact"
        return ModelError(words, kind="context")

    def _connection(self, error: Exception, *, heard: bool) -> ModelError:
        if heard:
            return self._say(f"broke the line in the middle of its answer ({self._why(error)}); ask again", retry=True)
        where = masked(self.service.base_url)
        causes = list(_causes(error))
        if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
            return self._cannot_reach(f"its certificate is not trusted ({self._why(error)}); check {where}")
        if any(isinstance(each, ssl.SSLError) for each in causes):
            return self._cannot_reach(f"no secure line ({self._why(error)}); check {where}")
        if any(isinstance(each, socket.gaierror) for each in causes):
            return self._cannot_reach(f"there is no host of that name, or no network; check {where}", retry=True)
        if any(isinstance(each, ConnectionRefusedError) for each in causes):
            if self.service.local:
                return self._cannot_reach(f"nobody listens at {where}; start it, or change its base_url")
            return self._cannot_reach(f"{where} refuses connections", retry=True)
        return self._cannot_reach(f"{self._why(error)} ({where})", retry=True)

    def _strange(self, error: Exception, *, heard: bool) -> ModelError:
        """It said something that its library does not understand."""
        where = masked(self.service.base_url)
        said = self._fit(str(error) or type(error).__name__)
        hint = "ask again" if heard else f"is {where} the right address?"
        return self._say(f"said something that is not understood ({said}); {hint}", retry=heard)

    def _words(self, body: object) -> str:
        """What an answer that says no says besides its number."""
        found: Any = body
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            inner = found.get("error", found)
            if isinstance(inner, dict):
                inner = inner.get("message") or inner.get("detail") or inner.get("type")
            found = inner
        if not isinstance(found, str) or not found.strip():
            return ""
        return ": a web page" if "<html" in found.lower() else f": {self._fit(found)}"

    def _why(self, error: Exception) -> str:
        """The innermost reason that has words."""
        words = [str(each) for each in _causes(error) if str(each)]
        return self._fit(words[-1] if words else type(error).__name__)

    def _fit(self, text: str) -> str:
        """Words of somebody else's, on one line, not too many, and without the key."""
        secrets = {"API_KEY": self.key.value} if self.key else {}
        text = masked(" ".join(text.split()), secrets)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    def _say(self, words: str, *, retry: bool = False, after: float | None = None) -> ModelError:
        return ModelError(f"{self.service.title} {words}", retry=retry, after=after)

    def _cannot_reach(self, words: str, *, retry: bool = False) -> ModelError:
        return ModelError(f"{self.service.title} cannot be reached: {words}", retry=retry)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those that led to it, the last first."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        waiting.append(current.__cause__ or current.__context__)

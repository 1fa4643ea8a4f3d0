"""Where a provider's key comes from: the environment, then the system's keyring. Never a plain file.

A keyring may ask the user for a password, or wait for a bus that nobody serves: it is read in a thread, once, within a
bound. A machine without one simply has no keys there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from accord.coder.models.services import Service, services
from accord.errors import AccordError
from accord.model.noun import Noun
from accord.process.aside import in_thread

if TYPE_CHECKING:
    from accord.config.coder import CoderSettings

ENTRY = "accord"
"""Under which service name keys lie in the keyring; the provider is the user name."""
PATIENCE = 5.0
_PLAIN = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Backends that keep nothing, or keep it in a file that anybody can read."""


class KeyringError(AccordError):
    """The keyring cannot be used. The message says why, and what to use instead."""


class Key(Noun):
    """A key, and where it was found."""

    value: str
    source: str
    """`ANTHROPIC_API_KEY`, or `keyring`."""

    def __repr__(self) -> str:
        return f"Key(source={self.source!r})"


class Ring(Protocol):
    """A keyring, as its library offers it."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class Keys:
    """The keys at hand."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._kept: dict[str, str] = {}
        self._asked: set[str] = set()
        self.trouble: str | None = None
        """Why the keyring could not be read, if it could not."""

    def find(self, provider: Service | str) -> Key | None:
        """A provider's key: from the environment, else what `read` found in the keyring."""
        service = services(env=self._env).get(provider) if isinstance(provider, str) else provider
        if service is None:
            return None
        for variable in service.key_variables:
            if value := self._env.get(variable, "").strip():
                return Key(value=value, source=variable)
        if kept := self._kept.get(service.name):
            return Key(value=kept, source="keyring")
        return None

    def missing(self, settings: CoderSettings | None = None) -> list[Service]:
        """The providers that need a key and have none."""
        return [each for each in self._known(settings) if each.needs_key and self.find(each) is None]

    def found(self, settings: CoderSettings | None = None) -> list[Service]:
        """The providers with a key, in the order of preference."""
        return [each for each in self._known(settings) if self.find(each) is not None]

    async def read(self, settings: CoderSettings | None = None, *, patience: float = PATIENCE) -> None:
        """Reads the keyring, once for each provider, without holding anything up for longer than that."""
        wanted = [each.name for each in self._known(settings) if each.key_variables and each.name not in self._asked]
        if not wanted:
            return
        self._asked.update(wanted)
        try:
            self._kept |= await in_thread(_kept, wanted, patience=patience)
        except TimeoutError:
            self.trouble = f"the keyring did not answer within {patience:g} s; is it locked?"
        except asyncio.CancelledError:
            self._asked.difference_update(wanted)  # nobody has heard the answer
            raise
        except KeyringError as error:
            self.trouble = str(error)

    def forget(self) -> None:
        """The next `read` looks anew."""
        self._kept, self._asked, self.trouble = {}, set(), None

    def _known(self, settings: CoderSettings | None) -> list[Service]:
        return list(services(settings, self._env).values())


def _kept(providers: Iterable[str]) -> dict[str, str]:
    ring = usable_ring()
    found = {}
    for provider in providers:
        if value := asked(ring.get_password, ENTRY, provider):
            found[provider] = value
    return found


def usable_ring() -> Ring:
    """The system's keyring, or `KeyringError` when there is none that keeps a secret. May block."""
    try:
        import keyring
    except ImportError:
        raise KeyringError("the keyring needs: pip install 'accord[coder]'") from None
    try:
        ring = keyring.get_keyring()
    except Exception as error:  # whatever a backend of somebody's raises while it is looked for
        raise KeyringError(f"the keyring cannot be used: {error}") from None
    chained = getattr(ring, "backends", None)
    links = [each for each in chained if not _plain(each)] if chained else [] if _plain(ring) else [ring]
    if not links:
        raise KeyringError("this machine has no keyring that keeps a secret")
    usable: Ring = links[0]
    return usable


def _plain(ring: object) -> bool:
    return type(ring).__module__.startswith(_PLAIN)


def asked(method: Any, *args: str) -> Any:
    """Calls a keyring; what it raises becomes `KeyringError`."""
    try:
        return method(*args)
    except Exception as error:  # backends raise what their systems raise
        said = str(error) or type(error).__name__
        raise KeyringError(f"the keyring cannot be used: {said}") from None

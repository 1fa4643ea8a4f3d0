"""Provider keys from the environment, the system keyring, or the key file of a machine without a keyring.

A keyring may ask the user for a password, or hang on a missing D-Bus service. So it is read in a thread, once, with a
timeout. A machine without a keyring simply has no keys there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from accord.coder.key_file import KeyFile, KeyFileError
from accord.coder.models.providers import PROVIDERS, Provider, known_providers
from accord.config.redaction import secret_values
from accord.errors import AccordError, ConfigError
from accord.model.record import Record
from accord.process.thread import run_in_thread
from accord.version import install_command

if TYPE_CHECKING:
    from accord.config.settings import CoderSettings

KEYRING_SERVICE = "accord"
"""The service name of our keys in the keyring; the provider is the user name."""
TIMEOUT_SECONDS = 5.0
_INSECURE_BACKENDS = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Backends that store nothing, or store it unprotected."""


SEARCH_VARIABLES = {
    "tavily": ("TAVILY_API_KEY",),
    "exa": ("EXA_API_KEY",),
    "brave": ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
}
"""Environment variables that may hold the key of a search engine."""


def search_variables(settings: CoderSettings | None) -> tuple[str, ...]:
    """Return the variables that may hold the key of the configured search engine; empty if it needs none."""
    entry = settings.web_search if settings is not None else None
    if entry is None:
        return ()
    return (entry.api_key_env,) if entry.api_key_env else SEARCH_VARIABLES.get(entry.engine, ())


class KeyringError(AccordError):
    """The keyring can't be used. The message says why."""


class Key(Record):
    """A key, and where it was found."""

    value: str
    source: str
    """`ANTHROPIC_API_KEY`, `keyring`, or the path of the key file."""

    @property
    def kind(self) -> Literal["environment", "keyring", "file"]:
        """Where it was found, as a word for programs."""
        if self.source == "keyring":
            return "keyring"
        return "file" if os.path.isabs(self.source) else "environment"

    def __repr__(self) -> str:
        return f"Key(source={self.source!r})"


class Ring(Protocol):
    """The interface of a keyring backend."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class Keys:
    """The available provider keys."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._from_keyring: Mapping[str, str] = {}
        """The keyring's keys by provider. Replaced as a whole, never modified."""
        self._from_file: Mapping[str, str] = {}
        """The key file's keys by provider."""
        self._read_providers: set[str] = set()
        self.problem: str | None = None
        """Why the keyring couldn't be read, if so."""

    def find(self, provider: Provider | str) -> Key | None:
        """Return a provider's key from the environment, or the one that `read` found in the keyring or the key file."""
        service = known_providers(env=self._env).get(provider) if isinstance(provider, str) else provider
        if service is None:
            return None
        for variable in service.ready_variables:
            if self._env.get(variable, "").strip():
                return Key(value="", source=variable)  # its own library finds the credentials
        return self.find_named(service.name, service.key_variables)

    def find_named(self, name: str, variables: Iterable[str]) -> Key | None:
        """Return the key of a provider or another service, by the name under which it is saved."""
        for variable in variables:
            if value := self._env.get(variable, "").strip():
                return Key(value=value, source=variable)
        if saved := self._from_keyring.get(name):
            return Key(value=saved, source="keyring")
        if saved := self._from_file.get(name):
            return Key(value=saved, source=str(KeyFile().path))
        return None

    def missing(self, settings: CoderSettings | None = None) -> list[Provider]:
        """Return the providers that need a key and have none."""
        return [each for each in self._providers(settings) if each.needs_key and self.find(each) is None]

    def providers_with_key(self, settings: CoderSettings | None = None) -> list[Provider]:
        """Return the providers that have a key, by preference."""
        return [each for each in self._providers(settings) if self.find(each) is not None]

    def variables(self, settings: CoderSettings | None = None) -> frozenset[str]:
        """Return the environment variables that may hold keys: the catalog's and the configured ones."""
        known = [*PROVIDERS, *self._providers(settings)]
        variables = frozenset(variable for service in known for variable in service.key_variables)
        return variables.union(*SEARCH_VARIABLES.values(), search_variables(settings))

    def values(self, settings: CoderSettings | None = None) -> set[str]:
        """Return all available keys, used or not."""
        names = self.variables(settings)
        held = {name: self._env[name].strip() for name in names if name in self._env}
        headers = [entry.headers for entry in settings.providers.values()] if settings else []
        saved = {*self._from_keyring.values(), *self._from_file.values()}
        tokens = {token for each in saved if each.startswith("{") for token in tokens_in(each)}
        return secret_values(held, *headers, known=names) | saved | tokens

    async def read(self, settings: CoderSettings | None = None, *, timeout: float = TIMEOUT_SECONDS) -> None:
        """Read the key file and the keyring, once per provider, the latter for at most `timeout` seconds."""
        wanted = [
            each.name
            for each in self._providers(settings)
            if each.saves_login and each.name not in self._read_providers
        ]
        engine = settings.web_search.engine if settings is not None and settings.web_search is not None else ""
        if search_variables(settings) and engine not in self._read_providers:
            wanted.append(engine)
        if not wanted:
            return
        self._read_providers.update(wanted)
        self._read_file()
        try:
            self._from_keyring = {**self._from_keyring, **await run_in_thread(_read_keyring, wanted, timeout=timeout)}
        except TimeoutError:
            self.problem = f"the keyring didn't respond within {timeout:g} s; is it locked?"
        except asyncio.CancelledError:
            self._read_providers.difference_update(wanted)  # the result is lost, so read again next time
            raise
        except KeyringError as error:
            if not self._from_file:
                self.problem = self.problem or str(error)

    def _read_file(self) -> None:
        try:
            # The keyring's mapping is replaced too: its identity tells caches of `values` about the change.
            self._from_file, self._from_keyring = KeyFile().read(), dict(self._from_keyring)
        except (KeyFileError, ConfigError) as error:
            self.problem = str(error)

    def forget(self) -> None:
        """Forget the saved keys; the next `read` reads them again."""
        self._from_keyring, self._from_file, self._read_providers, self.problem = {}, {}, set(), None

    @property
    def from_keyring(self) -> Mapping[str, str]:
        return self._from_keyring

    def _providers(self, settings: CoderSettings | None) -> list[Provider]:
        return list(known_providers(settings, self._env).values())


def tokens_in(saved: str) -> set[str]:
    """Return the secrets of a saved login, to be redacted one by one."""
    try:
        fields = msgspec.json.decode(saved, type=dict[str, Any])
    except msgspec.MsgspecError:
        return set()
    return {value for name, value in fields.items() if name.endswith("_token") and isinstance(value, str) and value}


def _read_keyring(providers: Iterable[str]) -> dict[str, str]:
    ring = open_keyring()
    found = {}
    for provider in providers:
        if value := call_keyring(ring.get_password, KEYRING_SERVICE, provider):
            found[provider] = value
    return found


def open_keyring() -> Ring:
    """Return the system's keyring. Raises `KeyringError` if there is none that is secure. May block."""
    try:
        import keyring
        from keyring.backends.chainer import ChainerBackend
    except ImportError:
        raise KeyringError(f"the keyring needs a package: {install_command('coder')}") from None
    try:
        ring = keyring.get_keyring()
    except Exception as error:  # backends raise anything
        raise KeyringError(f"can't use the keyring: {error}") from None
    backends = ring.backends if isinstance(ring, ChainerBackend) else [ring]
    secure = [each for each in backends if not _is_insecure(each)]
    if not secure:
        raise KeyringError("this machine has no secure keyring")
    usable: Ring = secure[0]
    return usable


def _is_insecure(ring: object) -> bool:
    return type(ring).__module__.startswith(_INSECURE_BACKENDS)


def call_keyring(method: Any, *args: str) -> Any:
    """Call a keyring method. Whatever it raises becomes a `KeyringError`."""
    try:
        return method(*args)
    except Exception as error:  # backends raise anything
        reason = str(error) or type(error).__name__
        raise KeyringError(f"can't use the keyring: {reason}") from None

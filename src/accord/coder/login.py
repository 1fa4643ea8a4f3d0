"""Log in to model providers: the methods offered to editors, and `accord agent login` in a terminal.

Keys are only saved in the system keyring. Without one, the error names the environment variable to set instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.errors import AccordError, AuthRequired, InvalidParams
from accord.model.requests import AuthMethod

if TYPE_CHECKING:
    from accord.coder.credentials import Keys, Ring
    from accord.coder.models.providers import Provider
    from accord.config.settings import CoderSettings

KEYS = "keys"
TERMINAL = "login"
CHECK_SECONDS = 15.0
"""How long a provider may take to check a key."""
_SUGGESTED = ("anthropic", "openai", "google")
"""The providers suggested to users without any key."""


class LoginError(AccordError):
    """A key couldn't be saved or removed. The message says why and what to do."""


def auth_methods() -> list[AuthMethod]:
    """The login methods offered to editors."""
    return [
        AuthMethod(
            id=KEYS,
            name="Use existing keys",
            description="Looks for a model provider's key in the environment and the system keyring.",
        ),
        AuthMethod(
            id=TERMINAL,
            name="Enter a key",
            description="Asks for a model provider's key in a terminal and saves it in the system keyring.",
            kind="terminal",
            args=["login"],
        ),
    ]


async def login(method_id: str, keys: Keys, settings: CoderSettings | None = None) -> None:
    """Look for keys again. Raises `AuthRequired`, naming the missing ones."""
    if method_id != KEYS:
        raise InvalidParams(f"unknown login method {method_id!r}; expected {KEYS}")
    keys.forget()
    await keys.read(settings)
    if keys.providers_with_key(settings):
        return
    missing = {service.name: service.variable for service in keys.missing(settings)}
    named = [missing[name] for name in _SUGGESTED if name in missing]
    problem = f" ({keys.problem})" if keys.problem else ""
    raise AuthRequired(
        f"no key for any model provider: set one of {', '.join(named)} in the agent's environment, or run accord agent "
        f"login{problem}. Without a key, sessions use the offline model.",
        data={"missing": list(missing.values())},
    )


# -- in a terminal


def log_in(provider: str | None, *, check: bool = True, settings: CoderSettings | None = None) -> str:
    """Ask for a provider's key and save it in the keyring. Returns a message; raises `LoginError`."""
    service = _choose_provider(provider, settings)
    ring = _open_keyring(service)
    key = _ask_key(service)
    if not key:
        raise LoginError("no key entered; nothing was saved")
    unchecked = _check_key(service, key) if check else ""
    from accord.coder.credentials import KEYRING_SERVICE, KeyringError, call_keyring

    try:
        call_keyring(ring.set_password, KEYRING_SERVICE, service.name, key)
    except KeyringError as error:
        raise LoginError(f"{error}; set {service.variable} in the environment instead") from None
    return f"Saved the key for {service.title} in the keyring{unchecked}."


def log_out(provider: str | None, *, settings: CoderSettings | None = None) -> str:
    """Remove a provider's key from the keyring, or all keys. Returns a message."""
    from accord.coder.credentials import KEYRING_SERVICE, KeyringError, call_keyring, open_keyring
    from accord.coder.models.providers import known_providers

    known = known_providers(settings)
    every = [each.name for each in known.values() if each.key_variables]
    names = [_choose_provider(provider, settings).name] if provider else every
    removed = []
    try:
        ring = open_keyring()
        for name in names:
            if call_keyring(ring.get_password, KEYRING_SERVICE, name):
                call_keyring(ring.delete_password, KEYRING_SERVICE, name)
                removed.append(known[name].title)
    except KeyringError as error:
        raise LoginError(f"{error}; no keys are saved there") from None
    if not removed:
        return "No keys in the keyring."
    return f"Removed from the keyring: {', '.join(removed)}."


def _choose_provider(provider: str | None, settings: CoderSettings | None) -> Provider:
    """The named provider, or the one the user chooses."""
    from accord.coder.models.providers import known_providers

    known = {name: each for name, each in known_providers(settings).items() if each.key_variables}
    if provider is None:
        import click

        listing = [each for each in known.values() if each.needs_key]
        for number, each in enumerate(listing, 1):
            click.echo(f"{number:3}. {each.title}", err=True)
        number = click.prompt("Which provider", type=click.IntRange(1, len(listing)), default=1, err=True)
        return listing[number - 1]
    if found := known.get(provider.lower()):
        return found
    from accord.config.agents import nearest

    close = nearest(provider, known)
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected {', '.join(known)}"
    raise LoginError(f"unknown provider {provider!r}: {hint}")


def _open_keyring(service: Provider) -> Ring:
    """Open the keyring before the user types a key."""
    from accord.coder.credentials import KeyringError, open_keyring

    try:
        return open_keyring()
    except KeyringError as error:
        raise LoginError(f"{error}: set {service.variable} in the environment instead") from None


def _ask_key(service: Provider) -> str:
    """Read the key without echo, or the first line of piped input."""
    import sys

    import click

    if sys.stdin.isatty():
        return str(
            click.prompt(f"Key for {service.title}", hide_input=True, default="", show_default=False, err=True)
        ).strip()
    return sys.stdin.readline().strip()


def _check_key(service: Provider, key: str) -> str:
    """Check a key with its provider. Returns a note if the provider can't tell."""
    from accord.coder.models.base import ModelError
    from accord.coder.models.discover import list_models

    try:
        list_models(service, key, CHECK_SECONDS)
    except ModelError as error:
        if error.kind == "key":
            raise LoginError(f"{error}; nothing was saved") from None
        if error.retry:
            raise LoginError(f"couldn't check the key: {error}; save it anyway with --no-check") from None
        return f", not checked: {error}"
    return ""

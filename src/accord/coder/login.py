"""How the coding agent comes by a key: the methods it offers an editor, and `accord agent login` for a person.

A key goes into the system's keyring or nowhere: a machine without one is told the environment variable instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.errors import AccordError, AuthRequired, InvalidParams
from accord.model.requests import AuthMethod

if TYPE_CHECKING:
    from accord.coder.keys import Keys, Ring
    from accord.coder.models.services import Service
    from accord.config.coder import CoderSettings

KEYS = "keys"
TERMINAL = "login"
PATIENCE = 15.0
"""How long a provider may take to say whether a key is good, in seconds."""
_NAMED = ("anthropic", "openai", "google")
"""The providers named to somebody who has no key at all."""


class LoginError(AccordError):
    """A key could not be stored, or removed. The message says why and what to do."""


def auth_methods() -> list[AuthMethod]:
    """What an editor is offered."""
    return [
        AuthMethod(
            id=KEYS,
            name="Keys of this machine",
            description="Looks for a model provider's key in the environment and in the system's keyring.",
        ),
        AuthMethod(
            id=TERMINAL,
            name="Enter a key",
            description="Asks for a model provider's key in a terminal, and stores it in the system's keyring.",
            kind="terminal",
            args=["login"],
        ),
    ]


async def login(method_id: str, keys: Keys, settings: CoderSettings | None = None) -> None:
    """Looks for keys anew. `AuthRequired` says which are missing."""
    if method_id != KEYS:
        raise InvalidParams(f"there is no login method {method_id!r}; expected {KEYS}")
    keys.forget()
    await keys.read(settings)
    if keys.found(settings):
        return
    missing = {service.name: service.variable for service in keys.missing(settings)}
    named = [missing[name] for name in _NAMED if name in missing]
    trouble = f" ({keys.trouble})" if keys.trouble else ""
    raise AuthRequired(
        f"no model provider has a key: set one of {', '.join(named)} in the agent's environment, or run: accord agent "
        f"login{trouble}. Without a key, sessions work on the offline model.",
        data={"missing": list(missing.values())},
    )


# -- for a person at a terminal


def log_in(provider: str | None, *, check: bool = True, settings: CoderSettings | None = None) -> str:
    """Asks for a provider's key and stores it in the keyring; gives the words to say so. `LoginError` when not."""
    service = _chosen(provider, settings)
    ring = _ring(service)
    key = _asked(service)
    if not key:
        raise LoginError("no key was entered; nothing is stored")
    unchecked = _checked(service, key) if check else ""
    from accord.coder.keys import ENTRY, KeyringError, asked

    try:
        asked(ring.set_password, ENTRY, service.name, key)
    except KeyringError as error:
        raise LoginError(f"{error}; set {service.variable} in the environment instead") from None
    return f"The key for {service.title} is stored in the keyring{unchecked}."


def log_out(provider: str | None, *, settings: CoderSettings | None = None) -> str:
    """Removes a provider's key from the keyring, or every one; gives the words to say so."""
    from accord.coder.keys import ENTRY, KeyringError, asked, usable_ring
    from accord.coder.models.services import services

    known = services(settings)
    every = [each.name for each in known.values() if each.key_variables]
    names = [_chosen(provider, settings).name] if provider else every
    removed = []
    try:
        ring = usable_ring()
        for name in names:
            if asked(ring.get_password, ENTRY, name):
                asked(ring.delete_password, ENTRY, name)
                removed.append(known[name].title)
    except KeyringError as error:
        raise LoginError(f"{error}; nothing is stored there") from None
    if not removed:
        return "There was no key in the keyring."
    return f"Removed from the keyring: {', '.join(removed)}."


def _chosen(provider: str | None, settings: CoderSettings | None) -> Service:
    """The provider that is named, or that the person chooses."""
    from accord.coder.models.services import services

    known = {name: each for name, each in services(settings).items() if each.key_variables}
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
    raise LoginError(f"there is no provider {provider!r}: {hint}")


def _ring(service: Service) -> Ring:
    """The keyring, looked for before anybody types a secret."""
    from accord.coder.keys import KeyringError, usable_ring

    try:
        return usable_ring()
    except KeyringError as error:
        raise LoginError(f"{error}: set {service.variable} in the environment instead") from None


def _asked(service: Service) -> str:
    """The key, typed without being shown, or the first line of what is piped in."""
    import sys

    import click

    if sys.stdin.isatty():
        return str(
            click.prompt(f"Key for {service.title}", hide_input=True, default="", show_default=False, err=True)
        ).strip()
    return sys.stdin.readline().strip()


def _checked(service: Service, key: str) -> str:
    """Asks the provider whether a key is good; what to add to the words when it does not say."""
    from accord.coder.models.base import ModelError
    from accord.coder.models.discover import listed

    try:
        listed(service, key, PATIENCE)
    except ModelError as error:
        if error.kind == "key":
            raise LoginError(f"{error}; nothing is stored") from None
        if error.retry:
            raise LoginError(f"the key could not be checked: {error}; store it all the same with --no-check") from None
        return f", unchecked: {error}"
    return ""

"""Log in to model providers: the methods offered to editors, and `accord login` in a terminal.

Keys are saved in the system keyring. On a machine without one they are saved in a file that only the user can read."""

from __future__ import annotations

import sys
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


class KeyNotCheckedError(LoginError):
    """A key wasn't saved because its provider couldn't be asked about it."""


def auth_methods() -> list[AuthMethod]:
    """Return the login methods offered to editors."""
    return [
        AuthMethod(
            id=KEYS,
            name="Use existing keys",
            description="Looks for a model provider's key in the environment and the system keyring.",
        ),
        AuthMethod(
            id=TERMINAL,
            name="Enter a key",
            description="Asks for a model provider's key in a terminal and saves it for this user.",
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
        f"no key for any model provider: set one of {', '.join(named)} in the agent's environment, or run accord "
        f"login{problem}. Without a key, sessions use the offline model.",
        data={"missing": list(missing.values())},
    )


# -- in a terminal


def log_in(
    provider: str | None, *, check: bool = True, in_file: bool = False, settings: CoderSettings | None = None
) -> str:
    """Ask for a provider's key and save it. Returns a message; raises `LoginError`.

    The key goes to the keyring; without one, or with `in_file`, to the key file."""
    service = _choose_provider(provider, settings)
    ring = None if in_file else _open_keyring()
    key, unchecked = _obtain_key(service, check)
    return save_key(
        service, key, in_file=in_file or ring is None, note=unchecked, is_without_keyring=ring is None and not in_file
    )


def has_keyring() -> bool:
    """Return whether this machine has a secure keyring. May block."""
    return _open_keyring() is not None


def save_key(service: Provider, key: str, *, in_file: bool, note: str = "", is_without_keyring: bool = False) -> str:
    """Save a key or a login in the keyring or in the key file. Returns a message; raises `LoginError`."""
    ring = None if in_file else _open_keyring()
    unchecked = f", not checked: {note}" if note else ""
    what = "login" if service.login == "browser" else "key"
    if ring is None:
        why = " This machine has no secure keyring." if is_without_keyring else ""
        path = _save_in_file(service, key)
        return f"Saved the {what} for {service.title} in {path}, readable by you only{unchecked}.{why}"
    from accord.coder.credentials import KEYRING_SERVICE, KeyringError, call_keyring

    try:
        call_keyring(ring.set_password, KEYRING_SERVICE, service.name, key)
    except KeyringError as error:
        raise LoginError(
            f"{error}; set {service.variable} in the environment instead, or save the key in a file with --file"
        ) from None
    return f"Saved the {what} for {service.title} in the keyring{unchecked}."


def _obtain_key(service: Provider, check: bool) -> tuple[str, str]:
    """Ask for a key, or log in. Return the value to save, and a note if it couldn't be checked."""
    from accord.coder.github_login import client_id, log_in_with_code

    if service.login == "browser":
        from accord.coder.chatgpt_login import sign_in

        return sign_in(), ""
    if service.login == "device" and (client := client_id()):
        return log_in_with_code(client), ""
    key = _ask_key(service)
    if not key and not service.needs_key:
        raise LoginError(f"no key entered; nothing was saved. {_describe_keyless(service)}")
    if not key:
        raise LoginError("no key entered; nothing was saved")
    if not check or service.name in _search_engines():
        return key, ""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"Checking the key with {service.title}…", file=sys.stderr, flush=True)
    try:
        return key, check_key(service, key)[0]
    except KeyNotCheckedError as error:
        raise LoginError(f"{error}. To save the key without a check, add --no-check") from None


def _describe_keyless(service: Provider) -> str:
    """Return how to use a provider without a key."""
    return f"{service.title} works without a key: accord --model {service.name}:NAME"


def log_out(provider: str | None, *, settings: CoderSettings | None = None) -> str:
    """Remove a provider's saved key, or all keys. Returns a message."""
    from accord.coder.credentials import KEYRING_SERVICE, KeyringError, call_keyring
    from accord.coder.key_file import KeyFile, KeyFileError
    from accord.coder.models.providers import known_providers

    known = {**_search_engines(), **known_providers(settings)}
    every = [each.name for each in known.values() if each.saves_login]
    names = [_choose_provider(provider, settings).name] if provider else every
    removed = []
    ring, file = _open_keyring(), KeyFile()
    try:
        for name in names:
            was_in_file = file.remove(name)
            was_in_ring = ring is not None and bool(call_keyring(ring.get_password, KEYRING_SERVICE, name))
            if ring is not None and was_in_ring:
                call_keyring(ring.delete_password, KEYRING_SERVICE, name)
            if was_in_file or was_in_ring:
                removed.append(known[name].title)
    except (KeyringError, KeyFileError) as error:
        raise LoginError(str(error)) from None
    if not removed:
        return "No saved keys."
    return f"Removed the saved key of: {', '.join(removed)}."


def _choose_provider(provider: str | None, settings: CoderSettings | None) -> Provider:
    """Return the named provider, or the one the user chooses."""
    from accord.coder.models.providers import known_providers

    providers = known_providers(settings)
    known = {name: each for name, each in providers.items() if each.saves_login}
    if provider is None:
        import click

        listing = [each for each in known.values() if each.needs_key]
        for number, each in enumerate(listing, 1):
            click.echo(f"{number:3}. {each.title}", err=True)
        try:
            number = click.prompt("Which provider", type=click.IntRange(1, len(listing)), default=1, err=True)
        except click.Abort:
            if sys.stdin is not None and sys.stdin.isatty():
                raise
            raise LoginError("nothing to read the answer from; name the provider: accord login anthropic") from None
        return listing[number - 1]
    if found := known.get(provider.lower()) or _search_engines().get(provider.lower()):
        return found
    if keyless := providers.get(provider.lower()):
        if keyless.needs_key:
            raise LoginError(f"Accord saves no key for {keyless.title}: {keyless.login_hint}")
        raise LoginError(_describe_keyless(keyless))
    from accord.config.agents import nearest

    close = nearest(provider, [*known, *_search_engines()])
    hint = f"did you mean {' or '.join(close)}?" if close else f"expected {', '.join(known)}"
    raise LoginError(f"unknown provider {provider!r}: {hint}")


def _search_engines() -> dict[str, Provider]:
    """Return the search engines that need a key, which is saved like a provider's."""
    from accord.coder.credentials import SEARCH_VARIABLES
    from accord.coder.models.providers import Provider

    return {
        name: Provider(name=name, title=name.title(), key_variables=variables)
        for name, variables in SEARCH_VARIABLES.items()
    }


def _open_keyring() -> Ring | None:
    """Return the keyring, or None without a secure one."""
    from accord.coder.credentials import KeyringError, open_keyring

    try:
        return open_keyring()
    except KeyringError:
        return None


def _save_in_file(service: Provider, key: str) -> str:
    """Save a key in the key file. Returns its path."""
    from accord.coder.key_file import KeyFile, KeyFileError

    file = KeyFile()
    try:
        file.save(service.name, key)
    except KeyFileError as error:
        raise LoginError(f"{error}; or set {service.variable} in the environment") from None
    return str(file.path)


def _ask_key(service: Provider) -> str:
    """Read the key without echo, or the first line of piped input."""
    import sys

    import click

    if sys.stdin.isatty():
        return str(
            click.prompt(f"Key for {service.title}", hide_input=True, default="", show_default=False, err=True)
        ).strip()
    return sys.stdin.readline().strip()


def check_key(service: Provider, key: str) -> tuple[str, list[str]]:
    """Check a key with its provider; blocks. Returns why it couldn't be checked, if so, and the models that it listed.

    Raises `LoginError` if the provider rejects it or can't be reached."""
    from accord.coder.models.base import ModelError
    from accord.coder.models.discover import list_models

    try:
        return "", list_models(service, key, CHECK_SECONDS)
    except ModelError as error:
        if error.kind == "key":
            raise LoginError(f"{error}; nothing was saved") from None
        if error.retry:
            raise KeyNotCheckedError(f"{error}; nothing was saved") from None
        return str(error), []

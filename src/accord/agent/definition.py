"""Check an author's agent class when it is created, and the object when it is served.

A mistake is reported as early as it can be detected: a handler that isn't async or has the wrong parameters when its
class is created, a missing `prompt` when the agent is run or connected to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from accord.errors import InvalidValue, UsageError
from accord.model import check
from accord.model.handlers import check_handler, check_is_async, check_parameters, find_typo, handlers_of
from accord.model.requests import AuthMethod
from accord.model.session import Command, Mode
from accord.model.values import short, text

if TYPE_CHECKING:
    from accord.agent.agent import Agent

CONTENT_KINDS = ("image", "audio", "resource")
MCP_TRANSPORTS = ("stdio", "http", "sse", "acp")
PROMPT_MODES = ("append", "override")
_PROTOCOL_VERSIONS = (1, 2)
COMMAND = "_accord_command"
"""The attribute by which `@command` marks a method."""

_SYNONYMS = {
    "authenticate": "login",
    "extension_method": "extension_request",
    "handle_message": "prompt",
    "handle_prompt": "prompt",
    "initialize": "on_connect",
    "on_message": "prompt",
    "on_new_session": "new_session",
    "on_prompt": "prompt",
    "on_session": "session_opened",
    "process_prompt": "prompt",
    "set_config_option": "set_option",
    "set_mode": "set_option",
    "set_model": "set_option",
    "set_session_mode": "set_option",
}
"""Names that other SDKs use, or that people guess, and the corresponding handlers."""
_UNRELATED = frozenset({"model", "models"})
"""Names that differ from an attribute by one letter, but are usually the author's own."""


class MisspelledHandler(UserWarning):
    """An agent has a method whose name looks like a misspelled handler. Accord never calls it."""


def check_class(cls: type[Agent], base: type[Agent]) -> None:
    """Check the methods and attributes that a class defines itself."""
    handlers = handlers_of(base)
    _check_command_names(cls)
    for name, value in list(vars(cls).items()):
        if name in handlers:
            check_handler(cls, name, value, handlers[name])
        elif name in _ATTRIBUTES:
            _check_attribute(cls.__name__, name, value)
        elif not name.startswith("_"):
            _warn_if_misspelled(cls, name, value, handlers)


def check_agent(agent: Any, base: type[Agent], call: str) -> None:
    """Check an agent that is about to be served by `call`, such as `run`."""
    if isinstance(agent, type) and issubclass(agent, base):
        name = agent.__name__
        raise UsageError(f"{call}({name}): {name} is a class; pass an instance: {call}({name}())")
    if not isinstance(agent, base):
        raise UsageError(f"{call}() needs an instance of accord.Agent; it got {_article(type(agent).__name__)}")
    own = vars(agent)
    for name in _ATTRIBUTES:
        if name in own:
            _check_attribute(type(agent).__name__, name, own[name])
    if not agent.offers("prompt") and "prompt" not in own:
        name = type(agent).__name__
        guess = _misspelled_prompt(type(agent), base)
        fix = f"rename “{guess}” to “prompt”, or define" if guess else "define"
        raise UsageError(f"{name} has no prompt method; {fix} “async def prompt(self, turn)”")


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "AEIOUaeiou" else f"a {noun}"


# -- handlers


def check_command(label: str, method: Any) -> None:
    """Check a method that is about to become a slash command."""
    check_is_async(label, method)
    check_parameters(label, method, ("self", "turn"))


def _check_command_names(cls: type[Agent]) -> None:
    """Raise `UsageError` if a class has two methods for one slash command: only one of them could be called."""
    methods: dict[str, str] = {}
    for name, value in vars(cls).items():
        described = getattr(value, COMMAND, None)
        if isinstance(described, Command) and (first := methods.setdefault(described.name, name)) != name:
            raise UsageError(f"{cls.__name__}.{first} and {cls.__name__}.{name} are both the command /{described.name}")


# -- names


def _warn_if_misspelled(cls: type[Agent], name: str, value: Any, handlers: dict[str, FunctionType]) -> None:
    """Warn about a new public name that looks like one of ours. Names with a leading underscore are the author's."""
    if any(name in vars(parent) for parent in cls.__mro__[1:]):
        return  # a base class has introduced it
    if isinstance(value, FunctionType):
        meant, kind = _SYNONYMS.get(name) or find_typo(name, handlers), "handler"
    elif isinstance(value, list | tuple) and name not in _UNRELATED:
        meant, kind = find_typo(name, _ATTRIBUTES), "attribute"
    else:
        return
    if meant is not None and meant not in vars(cls):
        warnings.warn(
            f"Accord never uses {cls.__name__}.{name}; did you mean the {kind} “{meant}”? "
            f"If not, rename it to _{name} to silence this warning",
            MisspelledHandler,
            stacklevel=4,
        )


def _misspelled_prompt(cls: type[Agent], base: type[Agent]) -> str | None:
    """Return the name of a method that looks like `prompt`."""
    own = [name for each in cls.__mro__ if each not in (base, object) for name in vars(each)]
    return next((name for name in own if _SYNONYMS.get(name) == "prompt"), None) or find_typo("prompt", own)


# -- attributes


def _check_attribute(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, property):
        _ATTRIBUTES[name](f"{owner}.{name}", value)


def _modes(where: str, value: Any) -> None:
    check.records(value, Mode, where, "accord.Mode(id=…, name=…)")


def _options(where: str, value: Any) -> None:
    check.options(value, where)


def _commands(where: str, value: Any) -> None:
    check.commands(value, where)


def _auth_methods(where: str, value: Any) -> None:
    check.records(value, AuthMethod, where, "accord.AuthMethod(id=…, name=…)")


def _words(known: Iterable[str]) -> Callable[[str, Any], None]:
    """Return a check of a collection of words. A single string would be iterated letter by letter."""
    allowed = tuple(known)

    def check_words(where: str, value: Any) -> None:
        if isinstance(value, str):
            raise InvalidValue(f"{where} is {short(value)}; it must be a tuple: ({short(value)},)", argument=where)
        if not isinstance(value, list | tuple | set | frozenset):
            raise InvalidValue(f"{where} is {short(value)}; it must be a tuple of strings", argument=where)
        for word in value:
            if not (isinstance(word, str) and (word in allowed or word.startswith("_"))):
                raise InvalidValue(
                    f"{where} contains {short(word)}; it may contain {', '.join(allowed)}", argument=where
                )

    return check_words


def versions(where: str, value: Any) -> None:
    """Check a collection of protocol versions."""
    if not isinstance(value, list | tuple | set | frozenset) or not value:
        raise InvalidValue(f"{where} is {short(value)}; it must be a tuple such as (1, 2)", argument=where)
    for version in value:
        if version not in _PROTOCOL_VERSIONS:
            raise InvalidValue(f"{where} contains {short(version)}; it may contain 1 and 2", argument=where)


def _store(where: str, value: Any) -> None:
    if isinstance(value, type):
        name = value.__name__
        raise InvalidValue(f"{where} is the class {name}; it must be an instance, such as {name}(…)", argument=where)
    from accord.store.base import SessionStore  # few agents bring a store

    if value is not None and not isinstance(value, SessionStore):
        raise InvalidValue(
            f"{where} is {short(value)}; it must be a store, such as accord.SqliteStore(path)", argument=where
        )


def _title(where: str, value: Any) -> None:
    if value is not None:
        text(where, value)


_ATTRIBUTES: dict[str, Callable[[str, Any], object]] = {
    "name": text,
    "title": _title,
    "version": text,
    "versions": versions,
    "content": _words(CONTENT_KINDS),
    "mcp": _words(MCP_TRANSPORTS),
    "system_prompts": _words(PROMPT_MODES),
    "auth_methods": _auth_methods,
    "modes": _modes,
    "options": _options,
    "commands": _commands,
    "store": _store,
}

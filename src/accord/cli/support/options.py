"""Parse options that several commands share: rules, session options (`--mode`, `--model`, `--set`) and seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.model.session import Option
    from accord.policy.rule import Rule


def parse_rules(given: Mapping[str, Any]) -> list[Rule]:
    """Parse the values of `--allow`, `--ask` and `--deny`."""
    if not (given["allow"] or given["ask"] or given["deny"]):
        return []
    from accord.errors import RuleError
    from accord.policy.sources import parse_flags

    try:
        return list(parse_flags(given["allow"], given["ask"], given["deny"]))
    except RuleError as error:
        raise click.UsageError(str(error)) from None


_YES, _NO = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


def parse_options(mode: str | None, model: str | None, given: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options to set, in order: a mode or a model may add further ones."""
    wanted = [(name, value) for name, value in (("mode", mode), ("model", model)) if value is not None]
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set takes OPTION=VALUE, not {text!r}")
        wanted.append((name.strip(), value.strip()))
    return wanted


async def set_options(session: Session, wanted: Sequence[tuple[str, str]]) -> None:
    """Set the options one after another."""
    for name, text in wanted:
        option = _option(session, name)
        if option.category == "model" and not option.is_boolean and _find_value(option, text) is None:
            await _set_unlisted(session, option, text)
        else:
            await session.set_option(option.id, _value(option, text))


async def _set_unlisted(session: Session, option: Option, text: str) -> None:
    """Set a model that isn't listed. The agent may support it, and if not, its error explains why."""
    from accord.errors import AccordError, RequestFailed

    try:
        await session.set_option(option.id, text, unlisted=True)
    except RequestFailed as error:
        from accord.config.agents import nearest

        close = nearest(text, [choice.value for choice in option.choices])
        hint = "" if any(each in error.message for each in close) or not close else f"; did you mean {close[0]}?"
        raise AccordError(f"couldn't use the {option.id} {text!r}: {error.message}{hint}") from error


def _option(session: Session, name: str) -> Option:
    found = session.option(name)
    if found is None:
        found = next((option for option in session.options if option.name.lower() == name.lower()), None)
    if found is not None:
        return found
    from accord.config.agents import nearest

    ids = [option.id for option in session.options]
    close = nearest(name, ids)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    else:
        hint = f"available: {', '.join(ids)}" if ids else "it has no options"
    raise click.UsageError(f"this agent has no option {name!r}; {hint}")


def _value(option: Option, text: str) -> str | bool:
    if option.is_boolean:
        if text.lower() in _YES:
            return True
        if text.lower() in _NO:
            return False
        raise click.UsageError(f"{option.id} must be on or off, not {text!r}")
    found = _find_value(option, text)
    if found is None:
        raise _unknown_value(option, text)
    return found


def _find_value(option: Option, text: str) -> str | None:
    """Find a listed value by its id or name."""
    for choice in option.choices:
        if text == choice.value:
            return choice.value
    named = [choice.value for choice in option.choices if text.lower() in (choice.name.lower(), choice.value.lower())]
    return named[0] if len(named) == 1 else None


def _unknown_value(option: Option, text: str) -> click.UsageError:
    from accord.config.agents import nearest

    values = [choice.value for choice in option.choices]
    close = nearest(text, values)
    hint = f"did you mean {' or '.join(close)}?" if close else f"available: {', '.join(values)}"
    return click.UsageError(f"unknown {option.id} {text!r}; {hint}")


class Seconds(click.FloatRange):
    """A positive, finite number of seconds."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} isn't a number of seconds", param, ctx)
        return seconds

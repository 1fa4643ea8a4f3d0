"""`--mode`, `--model` and `--set`: one way to set whatever a session lets be set, by id, kind or name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.model.session import Option

_YES, _NO = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


def pairs(mode: str | None, model: str | None, given: Sequence[str]) -> list[tuple[str, str]]:
    """What to set, in order: a mode or a model may bring further options."""
    wanted = [(name, value) for name, value in (("mode", mode), ("model", model)) if value is not None]
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set takes OPTION=VALUE, not {text!r}")
        wanted.append((name.strip(), value.strip()))
    return wanted


async def set_options(session: Session, wanted: Sequence[tuple[str, str]]) -> None:
    """Sets them one after another."""
    for name, said in wanted:
        option = _option(session, name)
        await session.set_option(option.id, _value(option, said))


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
        hint = f"there are {', '.join(ids)}" if ids else "there is nothing to set"
    raise click.UsageError(f"this agent has no option {name!r}: {hint}")


def _value(option: Option, said: str) -> str | bool:
    if option.is_boolean:
        if said.lower() in _YES:
            return True
        if said.lower() in _NO:
            return False
        raise click.UsageError(f"{option.id} is on or off, not {said!r}")
    for choice in option.choices:
        if said == choice.value:
            return choice.value
    named = [choice.value for choice in option.choices if said.lower() in (choice.name.lower(), choice.value.lower())]
    if len(named) == 1:
        return named[0]
    from accord.config.agents import nearest

    values = [choice.value for choice in option.choices]
    close = nearest(said, values)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(values)}"
    raise click.UsageError(f"{option.id} cannot be {said!r}: {hint}")

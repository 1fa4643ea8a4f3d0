"""The slash commands of an agent."""

from __future__ import annotations

from typing import Annotated, Any

from accord.schema.shape import UNSET, AtLeast, Filtered, Message, Missing, Open, Opt


class TextCommandInput(Message, tag_field="type", tag="text"):
    """The text after the name, described by the hint."""

    hint: str


def _text_if_hinted(value: dict[str, Any]) -> str | None:
    return "text" if "hint" in value else None


AvailableCommandInput = Annotated[Open[TextCommandInput], Missing(_text_if_hinted)]


class AnyCommand(Message):
    """The common fields of commands."""

    name: str
    description: str


class Command(AnyCommand, tag_field="type", tag="command"):
    """A command that is run by sending `/name` and its input as a prompt."""

    input: Opt[AvailableCommandInput] = UNSET


AvailableCommand = Annotated[Open[Command], Missing("command"), AtLeast(AnyCommand)]


class AvailableCommandsUpdate(Message, tag_field="sessionUpdate", tag="available_commands_update"):
    """Replaces all commands."""

    available_commands: Filtered[AvailableCommand]

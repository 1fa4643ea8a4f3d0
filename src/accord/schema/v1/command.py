"""The slash commands of an agent."""

from __future__ import annotations

from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt


class UnstructuredCommandInput(Message):
    """Free text after the command, described by `hint`."""

    hint: str


AvailableCommandInput = UnstructuredCommandInput


class AvailableCommand(Message):
    """A slash command."""

    name: str
    description: str
    input: Opt[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Message, tag_field="sessionUpdate", tag="available_commands_update"):
    """Replaces the list of commands."""

    available_commands: Emptied[Filtered[AvailableCommand]]

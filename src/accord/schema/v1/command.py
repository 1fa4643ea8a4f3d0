"""The slash commands an agent understands."""

from __future__ import annotations

from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt


class UnstructuredCommandInput(Message):
    """Free text after the command; `hint` says what belongs there."""

    hint: str


AvailableCommandInput = UnstructuredCommandInput


class AvailableCommand(Message):
    """One command."""

    name: str
    description: str
    input: Opt[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Message, tag_field="sessionUpdate", tag="available_commands_update"):
    """Lists all commands there are now."""

    available_commands: Emptied[Filtered[AvailableCommand]]

"""Content of a tool call that is the same in both versions."""

from __future__ import annotations

from accord.schema.common.ids import TerminalId
from accord.schema.shape import Message


class Terminal(Message, tag_field="type", tag="terminal"):
    """Shows a terminal in a tool call. Its owner (client or agent) depends on the version."""

    terminal_id: TerminalId

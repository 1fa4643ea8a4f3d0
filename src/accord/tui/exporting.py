"""A conversation as a Markdown document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from accord.model.content import TextContent
from accord.model.session import Compaction, Notice
from accord.model.tool import Diff, TerminalRef, ToolCall
from accord.transcript.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from accord.transcript.transcript import Transcript
    from accord.tui.conversation.block import Printed


def as_markdown(transcript: Transcript, terminal: Callable[[str], Printed | None]) -> str:
    """Everything that was said and done, in order."""
    parts = [f"# {transcript.title or 'A conversation'}\n"]
    for item in transcript.timeline:
        if isinstance(item, Message):
            parts.append(_message(item))
        elif isinstance(item, ToolCall):
            parts.append(_call(item, terminal))
        elif isinstance(item, Compaction):
            parts.append("*The context was shortened.*\n")
        elif isinstance(item, Notice):
            parts.append(f"> **{item.title}** {item.description or ''}\n")
    return "\n".join(parts)


def _message(message: Message) -> str:
    if message.role == "user":
        return f"## You\n\n{message.text}\n"
    if message.role == "thought":
        return "\n".join(f"> {line}" for line in message.text.splitlines()) + "\n"
    return f"{message.text}\n"


def _call(call: ToolCall, terminal: Callable[[str], Printed | None]) -> str:
    parts = [f"**{call.kind}: {call.title}** ({call.status})\n"]
    for item in call.content:
        if isinstance(item, TextContent):
            parts.append(f"{item.text}\n")
        elif isinstance(item, Diff):
            parts.append(_fenced(item.patch, "diff"))
        elif isinstance(item, TerminalRef) and (printed := terminal(item.terminal_id)) is not None:
            parts.append(_fenced(printed.text, "text"))
    return "\n".join(parts)


def _fenced(text: str, language: str) -> str:
    longest = max((len(ticks) for ticks in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def export(transcript: Transcript, folder: Path, terminal: Callable[[str], Printed | None]) -> Path:
    """Writes the document beside the project's files, under a name that is free."""
    stem = re.sub(r"[^\w-]+", "-", transcript.title or "conversation").strip("-").lower()[:60] or "conversation"
    text = as_markdown(transcript, terminal)
    for number in range(1, 1000):
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise OSError("there are too many files of that name")

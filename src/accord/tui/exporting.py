"""A conversation as a document: which formats there are, what a file is called, and how it is written."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from accord.model.session import SessionInfo
from accord.model.tool import Terminal, TerminalRef, ToolCall

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.conversation.block import Printed

FORMATS = {"md": "Markdown", "json": "JSON", "html": "HTML"}


def whole(transcript: Transcript, terminal: Callable[[str], Printed | None], title: str = "") -> Transcript:
    """A conversation as it stands now, with what terminals printed that were run here and not at the agent.

    `title` is for one that does not tell its own."""
    kept = copy.copy(transcript)
    kept.title = transcript.title or title or None
    kept.timeline = list(transcript.timeline)
    kept.terminals = dict(transcript.terminals)
    for call in kept.timeline:
        for item in call.content if isinstance(call, ToolCall) else ():
            if isinstance(item, TerminalRef) and item.terminal_id not in kept.terminals:
                printed = terminal(item.terminal_id)
                if printed is not None:
                    kept.terminals[item.terminal_id] = Terminal(
                        id=item.terminal_id,
                        command=printed.command,
                        exit=printed.exit,
                        chunks=[printed.text.encode("utf-8", "replace")],
                    )
    return kept


def document(transcript: Transcript, kind: str) -> Iterable[str]:
    """The document, piece by piece."""
    from accord.store.export.sections import sections

    id, cwd = transcript.session_id or "", transcript.cwd or ""
    info = SessionInfo(id=id, cwd=cwd, title=transcript.title, updated_at=transcript.updated_at)
    if kind == "json":
        import msgspec

        from accord.store.export.json import document as as_json

        return [msgspec.json.format(msgspec.json.encode(as_json(info, transcript, {}))).decode() + "\n"]
    if kind == "html":
        from accord.store.export.html import html

        return html(info, sections(transcript))
    from accord.store.export.markdown import markdown

    return markdown(info, sections(transcript))


def free_path(folder: Path, title: str | None, kind: str) -> Path:
    """A file beside the project's others, under a name that is free."""
    stem = re.sub(r"[^\w-]+", "-", title or "conversation").strip("-").lower()[:60] or "conversation"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.{kind}" for number in range(1, 10_000))
    return next((path for name in names if not os.path.lexists(path := folder / name)), folder / f"{stem}.{kind}")


def meant(typed: str, cwd: Path, usual: Path) -> Path:
    """The file that is meant by what was typed: a folder means a file of the usual name in it."""
    path = cwd / Path(typed.strip()).expanduser()
    return path / usual.name if path.is_dir() else path


def write(path: Path, pieces: Iterable[str], *, replaces: bool) -> None:
    """Writes the document. Raises `FileExistsError` where a file is there that is not to be replaced."""
    with path.open("w" if replaces else "x", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)

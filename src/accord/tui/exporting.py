"""A conversation as a document: which formats there are, what a file is called, and how it is written."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable, Iterator
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
    # It is read in a thread while the session goes on: what grows in the middle of that must not be a dict.
    kept.terminals = dict(transcript.terminals)
    kept.plans = dict(transcript.plans)
    kept.subagents = dict(transcript.subagents)
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


def document(transcript: Transcript, kind: str) -> Iterator[str]:
    """The document, piece by piece. Nothing is made of it before the first is asked for."""
    from accord.store.export.sections import sections

    id, cwd = transcript.session_id or "", transcript.cwd or ""
    info = SessionInfo(id=id, cwd=cwd, title=transcript.title, updated_at=transcript.updated_at)
    if kind == "json":
        import msgspec

        from accord.store.export.json import document as as_json

        yield msgspec.json.format(msgspec.json.encode(as_json(info, transcript, {}))).decode() + "\n"
    elif kind == "html":
        from accord.store.export.html import html

        yield from html(info, sections(transcript))
    else:
        from accord.store.export.markdown import markdown

        yield from markdown(info, sections(transcript))


def free_path(folder: Path, title: str | None, kind: str) -> Path:
    """A file beside the project's others, under a name that is free."""
    stem = re.sub(r"[^\w-]+", "-", title or "conversation").strip("-").lower()[:60] or "conversation"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.{kind}" for number in range(1, 10_000))
    return next((path for name in names if not os.path.lexists(path := folder / name)), folder / f"{stem}.{kind}")


def meant(typed: str, cwd: Path, usual: Path) -> Path:
    """The file that is meant by what was typed: a folder means a file of the usual name in it. Raises `OSError` for the
    folder of somebody who is not there."""
    try:
        path = cwd / Path(typed.strip()).expanduser()
    except RuntimeError:
        raise FileNotFoundError(f"there is no {Path(typed.strip()).parts[0]} here") from None
    return path / usual.name if path.is_dir() else path


def write(path: Path, pieces: Iterable[str], *, replaces: bool) -> None:
    """Writes the document to a file that nobody else can read, unless others could before. Raises `FileExistsError`
    where a file is there that is not to be replaced."""
    how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replaces else os.O_EXCL)
    with open(os.open(path, how, 0o600), "w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)

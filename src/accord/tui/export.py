"""Export a transcript to a file: its formats, its name, and writing it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from accord.model.session import SessionInfo
from accord.model.tool import Terminal, TerminalRef, ToolCall

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript
    from accord.tui.agent.workspace import CommandOutput

FORMATS = {"md": "Markdown", "json": "JSON", "html": "HTML"}


def copy_for_export(
    transcript: Transcript, terminal: Callable[[str], CommandOutput | None], title: str = ""
) -> Transcript:
    """Copy a transcript, and add the output of terminals that we run for the agent.

    `title` is used if the transcript has none."""
    copy = transcript.copy()  # read in a thread while the session continues
    copy.set_info(title=transcript.title or title or None)
    for call in copy.timeline:
        for item in call.content if isinstance(call, ToolCall) else ():
            if isinstance(item, TerminalRef):
                printed = terminal(item.terminal_id)
                if printed is not None:
                    output = printed.text.encode("utf-8", "replace")
                    copy.set_terminal(
                        Terminal(id=item.terminal_id, command=printed.command, exit=printed.exit, chunks=[output])
                    )
    return copy


def document(transcript: Transcript, kind: str) -> Iterator[str]:
    """Yield the document piece by piece, lazily."""
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


def find_free_path(directory: Path, title: str | None, kind: str) -> Path:
    """Return a path in the directory that doesn't exist yet, named after the title."""
    stem = re.sub(r"[^\w-]+", "-", title or "conversation").strip("-").lower()[:60] or "conversation"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.{kind}" for number in range(1, 10_000))
    return next((path for name in names if not os.path.lexists(path := directory / name)), directory / f"{stem}.{kind}")


def resolve_path(typed: str, cwd: Path, default: Path) -> Path:
    """Resolve a typed path; a directory means a file with the default name in it. Raise `OSError` for the home of an
    unknown user."""
    try:
        path = cwd / Path(typed.strip()).expanduser()
    except RuntimeError:
        raise FileNotFoundError(f"there is no user {Path(typed.strip()).parts[0]} here") from None
    return path / default.name if path.is_dir() else path


def write(path: Path, pieces: Iterable[str], *, replaces: bool) -> None:
    """Write the document. A new file is readable by the user only. Raise `FileExistsError` if it exists and must not be
    replaced."""
    how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replaces else os.O_EXCL)
    with open(os.open(path, how, 0o600), "w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)

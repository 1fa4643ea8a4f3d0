"""Opening things in the user's own editor, which has the terminal to itself meanwhile."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

_PLUS = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "jed")
_GO_TO = ("code", "codium", "cursor", "zed", "subl", "windsurf")


def editor_command(path: str, line: int | None = None) -> list[str]:
    """What starts the editor on a file, at a line where it is known how to say that."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    name = Path(words[0]).name
    if line is not None and name in _PLUS:
        return [*words, f"+{line}", path]
    if line is not None and name in _GO_TO:
        return [*words, *(["-g"] if name in ("code", "codium", "cursor", "windsurf") else []), f"{path}:{line}"]
    return [*words, path]


def open_in_editor(app: App[int], path: str, line: int | None = None) -> str | None:
    """Runs the editor to its end. Gives what went wrong, if anything did."""
    command = editor_command(path, line)
    trouble: str | None = None
    with app.suspend():
        try:
            status = subprocess.run(command, check=False).returncode
            if status:
                trouble = f"{command[0]} ended with status {status}"
        except OSError as error:
            trouble = f"{command[0]} cannot be started: {error.strerror}; set EDITOR to another"
    return trouble


def edit_text(app: App[int], text: str, suffix: str = ".md") -> tuple[str, str | None]:
    """A text as the user leaves it in the editor, and what went wrong, if anything did."""
    with tempfile.NamedTemporaryFile("w", suffix=suffix, prefix="accord-", encoding="utf-8", delete=False) as file:
        file.write(text)
    try:
        trouble = open_in_editor(app, file.name)
        return Path(file.name).read_text(encoding="utf-8", errors="replace"), trouble
    finally:
        with suppress(OSError):
            os.unlink(file.name)

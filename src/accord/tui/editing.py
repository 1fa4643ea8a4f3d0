"""Opening things in the user's own editor, which has the terminal to itself meanwhile. Agents go on being heard."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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


async def open_in_editor(app: App[int], path: str, line: int | None = None) -> str | None:
    """Runs the editor to its end. Gives what went wrong, if anything did."""
    try:
        command = editor_command(path, line)
    except ValueError as error:
        return f"EDITOR cannot be read: {error}"
    with lent(app):
        try:
            running = subprocess.Popen(command)  # noqa: ASYNC220  # starting takes no time, and waiting is done elsewhere
        except OSError as error:
            return f"{command[0]} cannot be started: {error.strerror}; set EDITOR to another"
        try:
            status = await asyncio.to_thread(running.wait)
        except asyncio.CancelledError:
            running.terminate()  # we are about to end, and it would be left with a terminal that is the shell's again
            raise
    return f"{command[0]} ended with status {status}" if status else None


async def edit_text(app: App[int], text: str, suffix: str = ".md") -> tuple[str, str | None]:
    """A text as the user leaves it in the editor, and what went wrong, if anything did."""
    name = await asyncio.to_thread(_written, text, suffix)
    try:
        trouble = await open_in_editor(app, name)
        return await asyncio.to_thread(Path(name).read_text, "utf-8", "replace"), trouble
    except OSError as error:  # an editor may do anything with a file
        return text, f"What was written cannot be read: {error.strerror}"
    finally:
        with suppress(OSError):
            os.unlink(name)


def _written(text: str, suffix: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=suffix, prefix="accord-", encoding="utf-8", delete=False) as file:
        file.write(text)
    return file.name


@contextmanager
def lent(app: App[int], words: str = "") -> Iterator[None]:
    """The terminal is somebody else's: nothing is drawn, nothing written, and Ctrl-C is not meant for us. `words` stand
    above what it shows."""
    driver = app._driver
    with ExitStack() as stack:
        stack.enter_context(app.batch_update())
        if driver is not None and driver.can_suspend:
            stack.enter_context(app.suspend())
            # Bells and the like would wait for the thread that writes, which is not there now, and at last for ever.
            setattr(driver, "write", lambda data: None)  # noqa: B010
            stack.callback(delattr, driver, "write")
            if words and sys.__stderr__ is not None:
                print(f"\n{words}\n", file=sys.__stderr__, flush=True)
        if threading.current_thread() is threading.main_thread():
            # A handler, and not to ignore it, which the editor would inherit.
            before = signal.signal(signal.SIGINT, lambda number, frame: None)
            stack.callback(signal.signal, signal.SIGINT, before)
        yield

"""Opening files and text in the user's editor, which has the terminal to itself meanwhile. Agents keep running."""

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

from accord.tui.terminal.textual_internals import get_driver

if TYPE_CHECKING:
    from textual.app import App

_PLUS = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "jed")
_GO_TO = ("code", "codium", "cursor", "zed", "subl", "windsurf")


def editor_command(path: str, line: int | None = None) -> list[str]:
    """Return the command that opens a file in the editor, at a line if the editor's syntax for that is known."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    name = Path(words[0]).name
    if line is not None and name in _PLUS:
        return [*words, f"+{line}", path]
    if line is not None and name in _GO_TO:
        return [*words, *(["-g"] if name in ("code", "codium", "cursor", "windsurf") else []), f"{path}:{line}"]
    return [*words, path]


async def open_in_editor(app: App[int], path: str, line: int | None = None) -> str | None:
    """Run the editor until it exits. Return the problem, if any."""
    try:
        command = editor_command(path, line)
    except ValueError as error:
        return f"Couldn't parse EDITOR: {error}"
    with lend_terminal(app):
        try:
            running = subprocess.Popen(command)  # noqa: ASYNC220  # starting is fast, and waiting happens in a thread
        except OSError as error:
            return f"{command[0]} couldn't be started: {error.strerror}; set EDITOR to another editor"
        waiting = asyncio.get_running_loop().run_in_executor(None, running.wait)
        try:
            status = await asyncio.shield(waiting)  # the thread reaps the editor even after a cancellation
        except asyncio.CancelledError:
            running.terminate()  # we are exiting: the editor would share the terminal with the shell
            raise
    return f"{command[0]} exited with status {status}" if status else None


async def edit_text(app: App[int], text: str, suffix: str = ".md") -> tuple[str, str | None]:
    """Let the user edit a text. Return the result and the problem, if any."""
    name = await asyncio.to_thread(_write, text, suffix)
    try:
        problem = await open_in_editor(app, name)
        return await asyncio.to_thread(Path(name).read_text, "utf-8", "replace"), problem
    except OSError as error:  # an editor may do anything with a file
        return text, f"Couldn't read the edited text: {error.strerror}"
    finally:
        with suppress(OSError):
            os.unlink(name)


def _write(text: str, suffix: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=suffix, prefix="accord-", encoding="utf-8", delete=False) as file:
        file.write(text)
    return file.name


@contextmanager
def lend_terminal(app: App[int], words: str = "") -> Iterator[None]:
    """Lend the terminal to another program: we draw and write nothing, and ignore Ctrl-C. `words` are printed first."""
    driver = get_driver(app)
    with ExitStack() as stack:
        stack.enter_context(app.batch_update())
        if driver is not None and driver.can_suspend:
            stack.enter_context(app.suspend())
            # Writes (bells, titles) would wait for the writer thread, which is stopped, and finally block forever.
            setattr(driver, "write", lambda data: None)  # noqa: B010
            stack.callback(delattr, driver, "write")
            if words and sys.__stderr__ is not None:
                print(f"\n{words}\n", file=sys.__stderr__, flush=True)
        if threading.current_thread() is threading.main_thread():
            # A handler instead of SIG_IGN, which the editor would inherit.
            before = signal.signal(signal.SIGINT, lambda number, frame: None)
            stack.callback(signal.signal, signal.SIGINT, before)
        yield

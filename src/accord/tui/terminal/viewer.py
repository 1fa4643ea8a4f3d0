"""Opening images and web pages outside the terminal, with the system's viewer, if there is a display."""

from __future__ import annotations

import atexit
import base64
import binascii
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from accord.process.programs import find_program
from accord.tui.transcript.images.header import head_of

if TYPE_CHECKING:
    from accord.model.content import Image


def viewer() -> list[str] | None:
    """Return the command that opens files; None if there is no display."""
    if sys.platform == "darwin":
        return ["open"]
    if sys.platform == "win32":
        return ["explorer"]
    found = find_program("xdg-open")
    return [found] if found and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) else None


def show(images: Iterable[Image]) -> str:
    """Save images to files and open them. Return a message for the user. Blocks: call it in a thread."""
    try:
        directory = Path(tempfile.mkdtemp(prefix="accord-images-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        files = [_save(image, directory / f"image-{number}") for number, image in enumerate(images, 1)]
    except (OSError, binascii.Error, ValueError) as error:
        return f"Couldn't save the image: {error}"
    command = viewer()
    for path, is_sound in files:
        if command is not None and is_sound:  # the program that opens another format might do more than show an image
            with suppress(OSError):
                _start([*command, str(path)])
    where = f"Saved to {files[0][0]}" if len(files) == 1 else f"{len(files)} images saved to {directory}"
    return f"{where} until Accord ends"


def open_address(url: str) -> str:
    """Open a page in the browser. Return the problem, if any."""
    if not url.startswith(("https://", "http://")):  # others start programs, or open files
        return "Only https:// and http:// URLs are opened from here: c copies it."
    command = viewer()
    if command is None:
        return "There is no display to open it on: c copies the URL."
    try:
        _start([*command, url])
    except OSError as error:
        return f"Couldn't open it: {error.strerror}; c copies the URL."
    return ""


def _start(command: list[str]) -> None:
    """Start a program that outlives us."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    threading.Thread(target=process.wait, daemon=True, name="viewer").start()


def _save(image: Image, path: Path) -> tuple[Path, bool]:
    """Save an image. Return its path, and whether its format is known."""
    head = head_of(image.data)
    kind = head.kind if head is not None else re.sub(r"\W.*", "", image.mime_type.rpartition("/")[2]) or "bin"
    path = path.with_suffix(f".{kind}")
    path.write_bytes(base64.b64decode(image.data))
    return path, head is not None

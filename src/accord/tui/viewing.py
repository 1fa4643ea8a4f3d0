"""Pictures and pages outside the terminal: shown by what the system shows them with, where there is a screen."""

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

from accord.tui.conversation.picture_head import head_of

if TYPE_CHECKING:
    from accord.model.content import Image


def viewer() -> list[str] | None:
    """What shows a picture here; None where nobody would see it."""
    if sys.platform == "darwin":
        return ["open"]
    if sys.platform == "win32":
        return ["explorer"]
    found = shutil.which("xdg-open")
    return [found] if found and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) else None


def show(images: Iterable[Image]) -> str:
    """Writes pictures to files and has them shown. Gives what the user is to know. Takes a while: not for where keys
    are waited for."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="accord-pictures-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        files = [_written(image, folder / f"picture-{number}") for number, image in enumerate(images, 1)]
    except (OSError, binascii.Error, ValueError) as error:
        return f"The picture cannot be written: {error}"
    command = viewer()
    for path, is_sound in files:
        if command is not None and is_sound:  # others might be more than pictures to the program that opens them
            with suppress(OSError):
                _start([*command, str(path)])
    where = f"Written to {files[0][0]}" if len(files) == 1 else f"{len(files)} pictures written to {folder}"
    return f"{where} until Accord ends"


def open_address(url: str) -> str:
    """Opens a page in the user's browser. Gives what is in the way, if anything is."""
    if not url.startswith(("https://", "http://")):  # others start programs, or open files
        return "Only addresses with https:// or http:// are opened from here: c copies it."
    command = viewer()
    if command is None:
        return "There is no screen here to open it on: c copies the address."
    try:
        _start([*command, url])
    except OSError as error:
        return f"It cannot be opened: {error.strerror}; c copies the address."
    return ""


def _start(command: list[str]) -> None:
    """Starts a program that goes on by itself, whatever becomes of us."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    threading.Thread(target=process.wait, daemon=True, name="viewer").start()


def _written(image: Image, path: Path) -> tuple[Path, bool]:
    """The file of a picture, and whether it is of a kind that is drawn here too."""
    head = head_of(image.data)
    kind = head.kind if head is not None else re.sub(r"\W.*", "", image.mime_type.rpartition("/")[2]) or "bin"
    path = path.with_suffix(f".{kind}")
    path.write_bytes(base64.b64decode(image.data))
    return path, head is not None

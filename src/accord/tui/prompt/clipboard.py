"""The picture in the system's clipboard, by whichever program can tell it, and a file that it is saved to.

Terminals paste text alone. All of this takes time and may hang: call it in a thread. Nothing takes longer than a
deadline, and no more is read than may be sent."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from accord.config.folders import data_folder

MOST_BYTES = 8 * 1024 * 1024
"""The largest picture that is taken."""
PATIENCE = 3.0
"""Seconds that a program may take to tell what is in the clipboard."""
MOST_KEPT = 200
"""How many pictures are kept; the oldest go first."""
_KINDS = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif"}
_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms; Add-Type -AssemblyName System.Drawing; "
    "$i = [System.Windows.Forms.Clipboard]::GetImage(); if ($i) { $s = New-Object System.IO.MemoryStream; "
    "$i.Save($s, [System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }"
)


class TooLarge(Exception):
    """There is a picture, and it is larger than what is taken."""


def save_picture(folder: Path | None = None) -> Path | None:
    """Saves the picture that is in the clipboard, for its owner alone; None where there is none, or nobody can tell.
    Raises `TooLarge`, and `OSError` where it cannot be written."""
    picture = read_picture()
    if picture is None:
        return None
    folder = folder or data_folder() / "chat" / "pictures"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kind = _kind(picture) or ".png"
    for number in range(1000):
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}{f'-{number}' if number else ''}{kind}"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(file, "wb") as opened:
            opened.write(picture)
        _tidy(folder)
        return path
    raise OSError(f"{folder} has too many files")


def read_picture() -> bytes | None:
    """The picture, as whichever program can give it."""
    for way in _ways():
        given = _given(way)
        if given is not None and _kind(given):
            if len(given) > MOST_BYTES:
                raise TooLarge
            return given
    return None


class Way(NamedTuple):
    """A program that gives the picture, and how it writes it."""

    argv: tuple[str, ...]
    written: str = "bytes"


def _ways() -> Iterator[Way]:
    """Those that are there, and of use on this system."""
    if sys.platform == "darwin":
        if shutil.which("pngpaste"):
            yield Way(("pngpaste", "-"))
        yield Way(("osascript", "-e", "get the clipboard as «class PNGf»"), "apple")
        return
    if os.environ.get("WAYLAND_DISPLAY") and shutil.which("wl-paste"):
        offered = (_given(Way(("wl-paste", "--list-types"))) or b"").decode("ascii", "replace").split()
        yield from (Way(("wl-paste", "--no-newline", "--type", each)) for each in _TYPES if each in offered)
    if os.environ.get("DISPLAY") and shutil.which("xclip"):
        said = ("xclip", "-selection", "clipboard", "-o", "-t")
        offered = (_given(Way((*said, "TARGETS"))) or b"").decode("ascii", "replace").split()
        yield from (Way((*said, each)) for each in _TYPES if each in offered)
    shell = shutil.which("powershell.exe") or (shutil.which("powershell") if os.name == "nt" else None)
    if shell:
        yield Way((shell, "-NoProfile", "-NonInteractive", "-Sta", "-Command", _POWERSHELL), "base64")


def _given(way: Way) -> bytes | None:
    """What a program prints, up to a little more than what is taken; nothing when it fails or takes too long."""
    most = MOST_BYTES + 1 if way.written == "bytes" else 2 * MOST_BYTES + 1000
    try:
        asked = subprocess.Popen(
            way.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    deadline = Timer(PATIENCE, asked.kill)
    deadline.start()
    try:
        assert asked.stdout is not None
        with asked.stdout as stdout:
            printed = stdout.read(most)
        if len(printed) >= most:
            asked.kill()
        elif asked.wait() != 0:
            return None
    finally:
        deadline.cancel()
        asked.kill()
        asked.wait()
    return _decoded(printed, way.written)


def _decoded(printed: bytes, written: str) -> bytes | None:
    try:
        if written == "base64":
            return base64.b64decode(printed.strip())
        if written == "apple":  # «data PNGf89504E47…»
            return bytes.fromhex(printed.decode("utf-8").strip().removeprefix("«data PNGf").removesuffix("»"))
    except ValueError:
        return None
    return printed


def _kind(data: bytes) -> str:
    """How a file of this kind is called; nothing where it is no picture that agents take."""
    if data[:4] == b"RIFF":
        return ".webp" if data[8:12] == b"WEBP" else ""
    return next((suffix for beginning, suffix in _KINDS.items() if data.startswith(beginning)), "")


def _tidy(folder: Path) -> None:
    with suppress(OSError):
        for old in sorted(folder.iterdir(), key=lambda each: each.name)[:-MOST_KEPT]:
            old.unlink()

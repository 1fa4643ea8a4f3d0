"""Images in the system clipboard: read by the first available program, and saved to a file.

Terminals paste only text. Reading the clipboard takes time and may hang: call it in a thread. Each program has a
timeout, and no more is read than may be sent."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import NamedTuple

from accord.config.directories import data_directory
from accord.process.programs import find_program

MAX_BYTES = 8 * 1024 * 1024
"""Maximum size of an image."""
TIMEOUT_SECONDS = 3.0
"""Timeout for reading the clipboard."""
MAX_KEPT = 200
"""Images to keep; the oldest are deleted first."""
_KINDS = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif"}
_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_POWERSHELL = (
    "Add-Type -AssemblyName System.Windows.Forms; Add-Type -AssemblyName System.Drawing; "
    "$i = [System.Windows.Forms.Clipboard]::GetImage(); if ($i) { $s = New-Object System.IO.MemoryStream; "
    "$i.Save($s, [System.Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }"
)


class TooLarge(Exception):
    """The image in the clipboard is too large."""


def save_image(directory: Path | None = None) -> Path | None:
    """Save the image in the clipboard to a file only its owner can read. Return None if there is none.

    Raises `TooLarge`, and `OSError` if it can't be saved."""
    image = read_image()
    if image is None:
        return None
    directory = directory or data_directory() / "chat" / "images"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    kind = _kind(image) or ".png"
    for number in range(1000):
        path = directory / f"{time.strftime('%Y%m%d-%H%M%S')}{f'-{number}' if number else ''}{kind}"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(file, "wb") as opened:
            opened.write(image)
        _tidy(directory)
        return path
    raise OSError(f"{directory} has too many files")


def read_image() -> bytes | None:
    """Read the image with the first program that can."""
    for reader in _readers():
        data = _run(reader)
        if data is not None and _kind(data):
            if len(data) > MAX_BYTES:
                raise TooLarge
            return data
    return None


class ClipboardReader(NamedTuple):
    """A program that prints the image, and its output format."""

    argv: tuple[str, ...]
    encoding: str = "bytes"


def _readers() -> Iterator[ClipboardReader]:
    """Return the programs that are installed and useful on this system."""
    if sys.platform == "darwin":
        if pngpaste := find_program("pngpaste"):
            yield ClipboardReader((pngpaste, "-"))
        yield ClipboardReader(("osascript", "-e", "get the clipboard as «class PNGf»"), "apple")
        return
    if os.environ.get("WAYLAND_DISPLAY") and (paste := find_program("wl-paste")):
        offered = (_run(ClipboardReader((paste, "--list-types"))) or b"").decode("ascii", "replace").split()
        yield from (ClipboardReader((paste, "--no-newline", "--type", each)) for each in _TYPES if each in offered)
    if os.environ.get("DISPLAY") and (xclip := find_program("xclip")):
        said = (xclip, "-selection", "clipboard", "-o", "-t")
        offered = (_run(ClipboardReader((*said, "TARGETS"))) or b"").decode("ascii", "replace").split()
        yield from (ClipboardReader((*said, each)) for each in _TYPES if each in offered)
    shell = find_program("powershell.exe") or (find_program("powershell") if os.name == "nt" else None)
    if shell:
        yield ClipboardReader((shell, "-NoProfile", "-NonInteractive", "-Sta", "-Command", _POWERSHELL), "base64")


def _run(reader: ClipboardReader) -> bytes | None:
    """Return the output of a program, slightly more than the size limit at most; empty if it fails or times out."""
    limit = MAX_BYTES + 1 if reader.encoding == "bytes" else 2 * MAX_BYTES + 1000
    try:
        process = subprocess.Popen(
            reader.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    deadline = Timer(TIMEOUT_SECONDS, process.kill)
    deadline.start()
    try:
        assert process.stdout is not None
        with process.stdout as stdout:
            output = stdout.read(limit)
        if len(output) >= limit:
            process.kill()
        elif process.wait() != 0:
            return None
    finally:
        deadline.cancel()
        process.kill()
        process.wait()
    return _decode(output, reader.encoding)


def _decode(output: bytes, encoding: str) -> bytes | None:
    try:
        if encoding == "base64":
            return base64.b64decode(output.strip())
        if encoding == "apple":  # «data PNGf89504E47…»
            return bytes.fromhex(output.decode("utf-8").strip().removeprefix("«data PNGf").removesuffix("»"))
    except ValueError:
        return None
    return output


def _kind(data: bytes) -> str:
    """Return the file extension for an image type; empty if agents don't accept it."""
    if data[:4] == b"RIFF":
        return ".webp" if data[8:12] == b"WEBP" else ""
    return next((suffix for beginning, suffix in _KINDS.items() if data.startswith(beginning)), "")


def _tidy(directory: Path) -> None:
    with suppress(OSError):
        for old in sorted(directory.iterdir(), key=lambda each: each.name)[:-MAX_KEPT]:
            old.unlink()

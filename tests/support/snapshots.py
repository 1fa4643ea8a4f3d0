"""Snapshots of widgets as text files: compared with the current output, and rewritten on request.

`ACCORD_SNAPSHOTS=write pytest tests/tui/test_snapshots.py` writes them; look at what git says has changed before you
keep it. A snapshot is lines of text; one with colors has a letter below each column, and a legend at the end."""

from __future__ import annotations

import difflib
import os
import string
from collections.abc import Sequence
from pathlib import Path

from rich.color import Color
from rich.style import Style
from textual.strip import Strip

FOLDER = Path(__file__).resolve().parents[1] / "tui" / "snapshots"
IS_WRITING = os.environ.get("ACCORD_SNAPSHOTS") == "write"
_LETTERS = string.ascii_letters + string.digits


def compare(name: str, lines: Sequence[str]) -> None:
    """Compare lines with the snapshot of this name, and fail with the differences."""
    path = FOLDER / f"{name}.txt"
    now = "\n".join(lines) + "\n"
    if IS_WRITING:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
        return
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if kept != now:
        changes = difflib.unified_diff(kept.splitlines(), now.splitlines(), str(path), "current output", lineterm="")
        renew = "If the change is intended, run: ACCORD_SNAPSHOTS=write pytest tests/tui/test_snapshots.py"
        raise AssertionError("\n".join([f"{name} looks different.", *changes, renew]))


def plain(strips: Sequence[Strip]) -> list[str]:
    """Return the text without styles."""
    return [strip.text.rstrip() for strip in strips]


def paint(strips: Sequence[Strip]) -> list[str]:
    """Return the text with its colors."""
    legend: dict[str, str] = {}
    lines: list[str] = []
    for strip in strips:
        text = strip.text.rstrip()
        below = ""
        for segment in strip if text else ():
            said = _describe_style(segment.style)
            letter = legend.setdefault(said, _LETTERS[len(legend) % len(_LETTERS)])
            below += letter * segment.cell_length
        lines += [text, below] if text else [text]
    return [*lines, "", *(f"{letter}  {said}" for said, letter in legend.items())]


def _describe_style(style: Style | None) -> str:
    """Describe a style."""
    if style is None:
        return "as the terminal likes"
    words = [name for name in ("bold", "dim", "italic", "underline", "strike", "reverse") if getattr(style, name)]
    ground = f" on {_color(style.bgcolor)}" if style.bgcolor is not None else ""
    return " ".join([*words, _color(style.color)]) + ground


def _color(color: Color | None) -> str:
    if color is None or color.is_default:
        return "the terminal's own"
    return color.name if color.number is not None else color.get_truecolor().hex

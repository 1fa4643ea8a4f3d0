"""A bar on one line of standard error, when a person is looking; a line for each thing that is done, when not."""

from __future__ import annotations

import shutil
import sys

_WIDTH = 24


class Bar:
    """Shows how far something is. Used as a function, and with `with`, so that the line is ended."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._last = ""
        self._drawn = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._drawn:
            print(file=sys.stderr, flush=True)

    def __call__(self, what: str, done: int, of: int) -> None:
        if sys.stderr is None:
            return
        if not self._is_terminal:
            if what != self._last:
                print(f"{what} …", file=sys.stderr, flush=True)
            self._last = what
            return
        columns = shutil.get_terminal_size().columns - 1
        text = f"{what} {_bar(done, of)}" if of else f"{what} {_size(done)}" if done else f"{what} …"
        if text != self._last:
            self._last = text
            self._drawn = True
            print(f"\r\x1b[K{text[:columns]}", end="", file=sys.stderr, flush=True)


def _bar(done: int, of: int) -> str:
    full = _WIDTH * done // of
    return f"[{'#' * full}{'.' * (_WIDTH - full)}] {100 * done // of:3d} % of {_size(of)}"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"

"""Words cut to fit a place on the screen, in cells and not in characters; that something is missing is always seen."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from accord.tui.plain import one_line


def fitted(text: str, cells: int) -> str:
    """The beginning of a text on one line, in at most so many cells; with `…` where something is missing."""
    line = one_line(text, max(cells, 1) + 1)
    if cell_len(line) <= cells:
        return line
    return f"{set_cell_size(line, max(cells - 1, 0)).rstrip()}…" if cells > 0 else ""


def fitted_path(path: str, cells: int) -> str:
    """A path in at most so many cells: what is missing is missing in its middle, so that its name is seen."""
    line = one_line(path, max(len(path), 1))
    if cell_len(line) <= cells:
        return line
    place = line.rstrip("/").rfind("/")
    name = line[place:] if place >= 0 else ""
    room = cells - 1 - cell_len(name)
    if place < 0 or room < 0:
        # A name that is too long by itself: its beginning and its end.
        half = max((cells - 1) // 2, 0)
        return f"{set_cell_size(line[max(place, -1) + 1 :], max(cells - 1 - half, 0)).rstrip()}…{_end(line, half)}"
    return f"{set_cell_size(line[:place], room).rstrip()}…{name}"


def _end(text: str, cells: int) -> str:
    """The last of a text, as much as there is room for."""
    start = max(len(text) - cells, 0)
    while start < len(text) and cell_len(text[start:]) > cells:
        start += 1
    return text[start:]

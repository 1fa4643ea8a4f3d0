"""Text helpers of the TUI that depend on Rich: truncation by cells, labels from untrusted text, and safe links.

Sanitizing itself is in `accord.terminal_text`, which the CLI shares."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.content import Content

from accord.terminal_text import one_line

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal acts on instead of showing them."""
_MAX_LINK = 2_000


def truncate(text: str, cells: int) -> str:
    """Truncate a text to one line of at most `cells` cells, ending in `…` if anything is left out."""
    line = one_line(text, max(cells, 1) + 1)
    if cell_len(line) <= cells:
        return line
    return f"{set_cell_size(line, max(cells - 1, 0)).rstrip()}…" if cells > 0 else ""


def truncate_path(path: str, cells: int) -> str:
    """Truncate a path to at most `cells` cells, in the middle so that the file name stays visible."""
    line = one_line(path, max(len(path), 1))
    if cell_len(line) <= cells:
        return line
    slash = line.rstrip("/").rfind("/")
    name = line[slash:] if slash >= 0 else ""
    room = cells - 1 - cell_len(name)
    if slash < 0 or room < 0:
        # The name alone is too long: show its start and its end.
        half = max((cells - 1) // 2, 0)
        return f"{set_cell_size(line[max(slash, -1) + 1 :], max(cells - 1 - half, 0)).rstrip()}…{_end(line, half)}"
    return f"{set_cell_size(line[:slash], room).rstrip()}…{name}"


def shorten_home(path: Path) -> str:
    """Abbreviate the home directory in a path as a tilde."""
    try:
        inside = path.relative_to(Path.home())
    except (ValueError, RuntimeError):
        return str(path)
    return f"~/{inside}" if inside.parts else "~"


def _end(text: str, cells: int) -> str:
    """Return the end of a text that fits into `cells` cells."""
    start = max(len(text) - cells, 0)
    while start < len(text) and cell_len(text[start:]) > cells:
        start += 1
    return text[start:]


def make_label(text: str, limit: int = 300) -> Content:
    """Make a title or label from untrusted text: on one line, with square brackets taken literally, not as markup."""
    return Content(one_line(text, limit))


# -- links


@lru_cache(1024)
def is_safe_link(address: str) -> bool:
    """Return whether a URL can be passed to the terminal. Other schemes than the web's could open a program or a file
    behind a harmless text."""
    is_web = address[:8].lower().startswith(("https://", "http://"))
    return is_web and len(address) <= _MAX_LINK and CONTROLS.search(address) is None and address.isascii()


def without_unsafe_link(style: Style) -> Style:
    """Return the style, without its link if that is unsafe."""
    return style if style.link is None or is_safe_link(style.link) else style.update_link(None)


def drop_unsafe_links(text: Text) -> Text:
    """Turn unsafe links of a text into plain words, in place."""
    if any(isinstance(span.style, Style) and span.style.link is not None for span in text.spans):
        text.spans = [
            span._replace(style=without_unsafe_link(span.style)) if isinstance(span.style, Style) else span
            for span in text.spans
        ]
    if isinstance(text.style, Style):
        text.style = without_unsafe_link(text.style)
    return text

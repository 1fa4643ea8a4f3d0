"""The scroll bar: a thin thumb, as long as the part of the page that is visible."""

from __future__ import annotations

import pytest
from textual.scrollbar import ScrollBar

from accord.tui.terminal.scrollbar import THUMB, ThinScrollBar, find_thumb, install_scrollbar


@pytest.mark.parametrize(
    ("whole", "window", "position", "thumb"),
    [
        (100, 10, 0, (0, 1)),
        (100, 10, 90, (9, 1)),
        (20, 10, 5, (2, 5)),
        (10, 10, 0, (0, 0)),
        (0, 0, 0, (0, 0)),
        (20, 10, 99, (5, 5)),
    ],
)
def test_the_thumb_shows_which_part_is_visible(whole: int, window: int, position: int, thumb: tuple[int, int]) -> None:
    assert find_thumb(10, whole, window, position) == thumb


def test_every_widget_has_the_same_scroll_bar() -> None:
    install_scrollbar()
    assert ScrollBar.renderer is ThinScrollBar
    rows = list(ThinScrollBar.render_bar(size=4, virtual_size=8, window_size=4, position=4).segments)
    assert [row.text for row in rows] == [" ", " ", THUMB, THUMB]
    assert [row.style.meta["@mouse.down"] for row in rows if row.style] == ["scroll_up", "scroll_up", "grab", "grab"]

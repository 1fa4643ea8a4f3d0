"""The images of a transcript view: which are rendered, and when. An image is decoded once, in a thread, when it
is first visible; until then its lines are empty. One that can't be shown has no lines, only its name."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from rich.style import Style
from textual.strip import Strip

from accord.tui.transcript.images.header import MAX_ENCODED, Head, head_of
from accord.tui.transcript.images.support import OFF, ImageSupport

if TYPE_CHECKING:
    from accord.model.content import Image
    from accord.tui.transcript.blocks.base import Block
    from accord.tui.transcript.images.upload import ImageUploader

COLUMNS, ROWS = 60, 16
"""Maximum size of an image in characters."""
KEPT_LINES = 1024
"""Lines of images to keep: more than any screen has."""

_Key = tuple[str, int, Style]


class RenderedImage:
    """An image on the screen: its lines, and the blocks that show it."""

    def __init__(self, lines: list[Strip]) -> None:
        self.lines = lines
        self.shown_by: WeakSet[Block] = WeakSet()
        self.number = 0
        """Its id in the terminal; 0 if it wasn't sent."""
        self.is_gone = False
        """Whether it isn't needed any more."""


class Gallery:
    """Renders images and caches them."""

    def __init__(
        self,
        detect: Callable[[], ImageSupport],
        uploader: ImageUploader,
        on_rendered: Callable[[set[Block]], None],
    ) -> None:
        """`detect` runs in a thread when the first image is visible. `uploader` is shared by all tabs. `on_rendered`
        gets the blocks whose lines changed."""
        self._detect = detect
        self._uploader = uploader
        self._on_rendered = on_rendered
        self._support: ImageSupport | None = None
        self._waiting: WeakSet[Block] = WeakSet()
        self._kept: OrderedDict[_Key, RenderedImage] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def lines(self, image: Image, block: Block) -> list[Strip]:
        """Return the lines of an image in a block as far as known: the same list until they change."""
        if self._closed or self._support is OFF or len(image.data) > MAX_ENCODED:
            return []
        if self._support is None:
            if not self._waiting:
                self._start(self._detect_support())
            self._waiting.add(block)
            return []
        ground = block.text_styles.base
        key = (image.data, min(block.width, COLUMNS), ground)
        rendered = self._kept.get(key)
        if rendered is None:
            rendered = self._kept[key] = self._begin(image.data, key[1], ground)
            self._evict()
        else:
            self._kept.move_to_end(key)
        rendered.shown_by.add(block)
        return rendered.lines

    def forget(self) -> None:
        """Render all images again when they are next visible: the terminal or the setting may have changed."""
        for task in self._tasks:
            task.cancel()
        changed = {block for rendered in self._kept.values() for block in rendered.shown_by} | set(self._waiting)
        for rendered in self._kept.values():
            self._delete(rendered)
        self._kept.clear()
        self._waiting.clear()
        self._support = None
        self._on_rendered(changed)

    def close(self) -> None:
        """Remove all images from the terminal for good."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for rendered in self._kept.values():
            self._delete(rendered)
        self._kept.clear()

    # -- rendering

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _detect_support(self) -> None:
        try:
            self._support = await asyncio.to_thread(self._detect)
        except Exception:  # an odd terminal must not keep the text from being shown
            self._support = OFF
        waiting = set(self._waiting)
        self._waiting.clear()
        self._on_rendered(waiting)

    def _begin(self, data: str, most: int, base: Style) -> RenderedImage:
        head = head_of(data)
        if head is None:
            return RenderedImage([])
        assert self._support is not None
        columns, rows = fit_size(head, most, self._support.cell)
        rendered = RenderedImage([Strip([])] * rows)
        self._start(self._draw(rendered, data, columns, rows, base))
        return rendered

    async def _draw(self, rendered: RenderedImage, data: str, columns: int, rows: int, base: Style) -> None:
        support = self._support
        assert support is not None
        try:
            async with self._uploader.one_by_one:
                if rendered.is_gone:
                    return
                if support.kind == "blocks":
                    rendered.lines = await asyncio.to_thread(_blocks, data, columns, rows, base, support.few_colors)
                else:
                    rendered.lines = await self._send(rendered, support, data, columns, rows, base)
        except Exception:  # a broken image is shown by name
            rendered.lines = []
        self._on_rendered(set(rendered.shown_by))

    async def _send(
        self, rendered: RenderedImage, support: ImageSupport, data: str, columns: int, rows: int, base: Style
    ) -> list[Strip]:
        from accord.tui.transcript.images.decode import as_png
        from accord.tui.transcript.images.kitty import placeholder_lines

        size = (round(columns * support.cell[0]), round(rows * support.cell[1]))
        png = await asyncio.to_thread(as_png, data, *size)
        if rendered.is_gone:
            return []
        rendered.number = self._uploader.number(support.few_colors)
        there = await self._uploader.send(rendered.number, png, columns, rows, in_tmux=support.in_tmux)
        return placeholder_lines(rendered.number, columns, rows, base) if there else []

    def _evict(self) -> None:
        while len(self._kept) > 1 and sum(len(each.lines) or 1 for each in self._kept.values()) > KEPT_LINES:
            _, rendered = self._kept.popitem(last=False)
            self._delete(rendered)
            self._on_rendered(set(rendered.shown_by))

    def _delete(self, rendered: RenderedImage) -> None:
        rendered.is_gone = True
        if rendered.number and self._support is not None:
            self._uploader.forget(rendered.number, in_tmux=self._support.in_tmux)
            rendered.number = 0


def fit_size(head: Head, most: int, cell: tuple[float, float]) -> tuple[int, int]:
    """Return the columns and rows of an image: never more than it has pixels for."""
    wide, high = cell
    scale = min(1.0, most * wide / head.width, ROWS * high / head.height)
    columns, rows = round(head.width * scale / wide), round(head.height * scale / high)
    return max(1, min(columns, most)), max(1, min(rows, ROWS))


def _blocks(data: str, columns: int, rows: int, base: Style, few_colors: bool) -> list[Strip]:
    from accord.tui.transcript.images.decode import as_blocks

    ink = None if base.bgcolor is None else base.bgcolor.get_truecolor()
    ground = (ink.red, ink.green, ink.blue) if ink is not None else (0, 0, 0)
    return as_blocks(data, columns, rows, ground, base, few_colors=few_colors)

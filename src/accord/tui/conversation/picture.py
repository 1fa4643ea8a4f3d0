"""The pictures of a conversation: which are drawn, and when. A picture is drawn once, in a thread, when it is first
seen; until then its lines are empty. One that cannot be drawn has none: it is named, as all are."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from rich.style import Style
from textual.strip import Strip

from accord.tui.conversation.picture_head import MOST_ENCODED, Head, head_of
from accord.tui.conversation.picture_way import OFF, Way

if TYPE_CHECKING:
    from accord.model.content import Image
    from accord.tui.conversation.block import Block
    from accord.tui.conversation.picture_sending import Sender

COLUMNS, ROWS = 60, 16
"""How big a picture is on the screen at most."""
KEPT_LINES = 1024
"""How many lines of pictures are kept: more than any screen has."""

_Key = tuple[str, int, Style]


class Picture:
    """A picture on the screen: its lines, and who shows them."""

    def __init__(self, lines: list[Strip]) -> None:
        self.lines = lines
        self.shown_by: WeakSet[Block] = WeakSet()
        self.number = 0
        """What the terminal knows it by; 0 when it does not know it."""
        self.is_gone = False
        """Whether nobody waits for it any more."""


class Gallery:
    """Draws pictures and keeps them."""

    def __init__(
        self,
        find_way: Callable[[], Way],
        sender: Sender,
        drawn: Callable[[set[Block]], None],
    ) -> None:
        """`find_way` is called in a thread when the first picture is seen; `sender` is the terminal's; `drawn` gets the
        blocks whose lines changed."""
        self._find_way = find_way
        self._sender = sender
        self._told = drawn
        self._way: Way | None = None
        self._waiting: WeakSet[Block] = WeakSet()
        self._kept: OrderedDict[_Key, Picture] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def lines(self, image: Image, block: Block) -> list[Strip]:
        """The lines of a picture in a block, as far as they are known. The same list until they change."""
        if self._closed or self._way is OFF or len(image.data) > MOST_ENCODED:
            return []
        if self._way is None:
            if not self._waiting:
                self._start(self._look_around())
            self._waiting.add(block)
            return []
        ground = block.look.base
        key = (image.data, min(block.width, COLUMNS), ground)
        picture = self._kept.get(key)
        if picture is None:
            picture = self._kept[key] = self._begun(image.data, key[1], ground)
            self._let_go()
        else:
            self._kept.move_to_end(key)
        picture.shown_by.add(block)
        return picture.lines

    def forget(self) -> None:
        """Draws everything anew when it is next seen, maybe another way."""
        for task in self._tasks:
            task.cancel()
        changed = {block for picture in self._kept.values() for block in picture.shown_by} | set(self._waiting)
        for picture in self._kept.values():
            self._delete(picture)
        self._kept.clear()
        self._waiting.clear()
        self._way = None
        self._told(changed)

    def close(self) -> None:
        """Takes all pictures out of the terminal; there will be no others."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for picture in self._kept.values():
            self._delete(picture)
        self._kept.clear()

    # -- drawing

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_around(self) -> None:
        try:
            self._way = await asyncio.to_thread(self._find_way)
        except Exception:  # whatever is odd about this terminal: what is said can be read in it
            self._way = OFF
        waiting = set(self._waiting)
        self._waiting.clear()
        self._told(waiting)

    def _begun(self, data: str, most: int, base: Style) -> Picture:
        head = head_of(data)
        if head is None:
            return Picture([])
        assert self._way is not None
        columns, rows = fitted(head, most, self._way.cell)
        picture = Picture([Strip([])] * rows)
        self._start(self._draw(picture, data, columns, rows, base))
        return picture

    async def _draw(self, picture: Picture, data: str, columns: int, rows: int, base: Style) -> None:
        way = self._way
        assert way is not None
        try:
            async with self._sender.one_by_one:
                if picture.is_gone:
                    return
                if way.kind == "blocks":
                    picture.lines = await asyncio.to_thread(_blocks, data, columns, rows, base, way.few_colours)
                else:
                    picture.lines = await self._send(picture, way, data, columns, rows, base)
        except Exception:  # whatever is wrong with a picture: its name is there
            picture.lines = []
        self._told(set(picture.shown_by))

    async def _send(self, picture: Picture, way: Way, data: str, columns: int, rows: int, base: Style) -> list[Strip]:
        from accord.tui.conversation.picture_kitty import places
        from accord.tui.conversation.picture_paint import as_png

        size = (round(columns * way.cell[0]), round(rows * way.cell[1]))
        png = await asyncio.to_thread(as_png, data, *size)
        if picture.is_gone:
            return []
        picture.number = self._sender.number(way.few_colours)
        there = await self._sender.send(picture.number, png, columns, rows, in_tmux=way.in_tmux)
        return places(picture.number, columns, rows, base) if there else []

    def _let_go(self) -> None:
        while len(self._kept) > 1 and sum(len(each.lines) or 1 for each in self._kept.values()) > KEPT_LINES:
            _, picture = self._kept.popitem(last=False)
            self._delete(picture)
            self._told(set(picture.shown_by))

    def _delete(self, picture: Picture) -> None:
        picture.is_gone = True
        if picture.number and self._way is not None:
            self._sender.forget(picture.number, in_tmux=self._way.in_tmux)
            picture.number = 0


def fitted(head: Head, most: int, cell: tuple[float, float]) -> tuple[int, int]:
    """How many columns and rows a picture takes: never more than it has pixels for."""
    wide, high = cell
    scale = min(1.0, most * wide / head.width, ROWS * high / head.height)
    columns, rows = round(head.width * scale / wide), round(head.height * scale / high)
    return max(1, min(columns, most)), max(1, min(rows, ROWS))


def _blocks(data: str, columns: int, rows: int, base: Style, few_colours: bool) -> list[Strip]:
    from accord.tui.conversation.picture_paint import as_blocks

    ink = None if base.bgcolor is None else base.bgcolor.get_truecolor()
    ground = (ink.red, ink.green, ink.blue) if ink is not None else (0, 0, 0)
    return as_blocks(data, columns, rows, ground, base, few_colours=few_colours)

"""A receiver for tests: records everything, and lets a test wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

BOUND = 300.0


class Listener:
    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.skipped: list[tuple[bytes, int]] = []
        self.story: list[bytes | int] = []
        """Lines and the sizes of skipped lines, in order."""
        self.size = 0
        self.endings: list[Exception | None] = []
        self.on_block: Callable[[bytes], object] | None = None
        self._something = asyncio.Event()

    def on_lines(self, block: bytes) -> None:
        assert not self.endings, "something came after the end"
        self.blocks.append(block)
        self.size += len(block)
        self.story += block.splitlines()
        self._something.set()
        if self.on_block is not None:
            self.on_block(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        self.skipped.append((head, size))
        self.story.append(size)
        self._something.set()

    def on_end(self, error: Exception | None) -> None:
        self.endings.append(error)
        self._something.set()

    @property
    def heard(self) -> bytes:
        return b"".join(self.blocks)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND):
            while not condition():
                self._something.clear()
                await self._something.wait()

    async def until_heard(self, count: int) -> list[bytes]:
        """Wait for `count` lines, and return them."""
        await self.until(lambda: self.heard.count(b"\n") >= count)
        return self.heard.splitlines()

    async def until_ended(self) -> Exception | None:
        await self.until(lambda: bool(self.endings))
        return self.endings[0]

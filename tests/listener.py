"""A receiver for tests: remembers everything, and lets a test wait for it within a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

BOUND = 20.0


class Listener:
    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.skipped: list[tuple[bytes, int]] = []
        self.story: list[bytes | int] = []
        """Lines and the sizes of skipped lines, in the order they were heard."""
        self.size = 0
        self.endings: list[Exception | None] = []
        self.on_lines: Callable[[bytes], object] | None = None
        self._something = asyncio.Event()

    def lines(self, block: bytes) -> None:
        assert not self.endings, "something came after the end"
        self.blocks.append(block)
        self.size += len(block)
        self.story += block.splitlines()
        self._something.set()
        if self.on_lines is not None:
            self.on_lines(block)

    def oversized(self, head: bytes, size: int) -> None:
        self.skipped.append((head, size))
        self.story.append(size)
        self._something.set()

    def ended(self, error: Exception | None) -> None:
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
        """The lines, once there are so many."""
        await self.until(lambda: self.heard.count(b"\n") >= count)
        return self.heard.splitlines()

    async def until_ended(self) -> Exception | None:
        await self.until(lambda: bool(self.endings))
        return self.endings[0]

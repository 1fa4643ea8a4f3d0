"""The floor with an event loop: add_reader and 64 KiB reads; one dispatcher, called by the reader, calls plain handlers
in place and starts a task for a turn alone; writes are collected, the first message of a burst leaves at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any

import raw_wire as wire

HIGH_WATER = 4 * wire.CHUNK


class Peer:
    """One side of a conversation. `handle` gives the result of a request, or a coroutine that will."""

    def __init__(self, reader: int, writer: int, handle: Callable[[str, Any], Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self.reader = reader
        self.writer = writer
        self.handle = handle
        self.lines = wire.Lines()
        self.asked: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.next_id = 0
        self.out = bytearray()
        self.collecting = False
        self.drained: asyncio.Future[None] | None = None
        self.ended: asyncio.Future[None] = self.loop.create_future()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self.loop.add_reader(reader, self._readable)

    # -- in

    def _readable(self) -> None:
        data = os.read(self.reader, wire.CHUNK)
        if not data:
            self.loop.remove_reader(self.reader)
            self.ended.set_result(None)
        for line in self.lines.feed(data):
            self._dispatch(wire.envelope(line))
        if self.out:
            self._write()

    def _dispatch(self, message: wire.Envelope) -> None:
        if message.method is None:
            method, future = self.asked.pop(message.id or 0)
            future.set_result(wire.results[method](message.result))
            return
        result = self.handle(message.method, wire.params[message.method](message.params))
        if message.id is None:
            return
        if isinstance(result, Coroutine):
            task = self.loop.create_task(self._answer_later(message.id, result))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            return
        self._encode(wire.Answer(message.id, result))  # written when all that was read has been dealt with

    async def _answer_later(self, id: int, result: Coroutine[Any, Any, Any]) -> None:
        await self.send(wire.Answer(id, await result))

    # -- out

    def _encode(self, message: Any) -> None:
        wire.encoder.encode_into(message, self.out, -1)
        self.out += wire.END

    async def send(self, message: Any) -> None:
        self._encode(message)
        if len(self.out) >= wire.CHUNK:
            self._write()
            while len(self.out) >= HIGH_WATER:
                if self.drained is None:
                    self.drained = self.loop.create_future()
                await self.drained
        elif not self.collecting:
            self.collecting = True
            self.loop.call_soon(self._flush)
            self._write()

    def _flush(self) -> None:
        self.collecting = False
        if self.out:
            self._write()

    def _write(self) -> None:
        out = self.out
        try:
            while out:
                written = os.write(self.writer, out)
                if written == len(out):
                    out.clear()
                else:
                    del out[:written]
        except BlockingIOError:
            self.loop.add_writer(self.writer, self._writable)

    def _writable(self) -> None:
        self.loop.remove_writer(self.writer)
        self._write()
        if self.drained is not None and len(self.out) < HIGH_WATER:
            self.drained.set_result(None)
            self.drained = None

    async def request(self, method: str, params: Any) -> Any:
        id, self.next_id = self.next_id, self.next_id + 1
        future: asyncio.Future[Any] = self.loop.create_future()
        self.asked[id] = (method, future)
        await self.send(wire.Request(id, method, params))
        return await future

    async def notify(self, method: str, params: Any) -> None:
        await self.send(wire.Notification(method, params))

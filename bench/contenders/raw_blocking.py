"""The floor without an event loop: blocking reads and writes, one thing at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import raw_wire as wire


class Pipe:
    """Both directions of a connection. Messages are buffered and written before each wait."""

    def __init__(self, reader: int, writer: int) -> None:
        self.reader = reader
        self.writer = writer
        self.out = bytearray()
        self.incoming = self._read()
        self.next_id = 0
        self.asked: dict[int, str] = {}

    def _read(self) -> Iterator[wire.Envelope]:
        lines = wire.Lines()
        while data := os.read(self.reader, wire.CHUNK):
            for line in lines.feed(data):
                yield wire.envelope(line)
            self.flush()  # write responses before waiting for more

    def send(self, message: Any) -> None:
        wire.encoder.encode_into(message, self.out, -1)
        self.out += wire.END
        if len(self.out) >= wire.CHUNK:
            self.flush()

    def flush(self) -> None:
        if self.out:
            with memoryview(self.out) as left:
                written = 0
                while written < len(left):
                    written += os.write(self.writer, left[written:])
            self.out.clear()

    def request(self, method: str, params: Any) -> int:
        id, self.next_id = self.next_id, self.next_id + 1
        self.asked[id] = method
        self.send(wire.Request(id, method, params))
        return id

    def result(self, message: wire.Envelope) -> Any:
        """The typed result in an answer to one of our requests."""
        assert message.id is not None
        return wire.results[self.asked.pop(message.id)](message.result)

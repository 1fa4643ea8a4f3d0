"""A WebSocket of a web page that writes lines in binary frames, as pages for bridges to standard input do."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit


class PageSocket:
    """One connection. `status` is the first line of the response to its handshake."""

    def __init__(self, url: str, path: str, origin: str) -> None:
        address = urlsplit(url)
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {urlsplit(origin).hostname}:{address.port}",
            f"Origin: {origin}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        self.received: list[dict[str, Any]] = []
        self._socket = socket.create_connection((address.hostname, address.port), timeout=300)
        self._answers = self._socket.makefile("rb")
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.status: str = self._answers.readline().decode()
        while self._answers.readline().strip():
            pass

    def send(self, message: dict[str, Any]) -> None:
        """Send a message as one line in a binary frame."""
        content = json.dumps(message).encode() + b"\n"
        size = len(content)
        length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size)
        self._socket.sendall(b"\x82" + length + bytes(4) + content)  # a mask of zeros leaves the content as it is

    def wait(self, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Receive messages until one matches, and return it."""
        while True:
            message = self._receive()
            self.received.append(message)
            if matches(message):
                return message

    def response(self, id: int) -> dict[str, Any]:
        """Receive messages until the response to a request, and return it."""
        return self.wait(lambda message: message.get("id") == id and "method" not in message)

    def updates(self, kind: str) -> list[dict[str, Any]]:
        """Return the updates of a kind that were received so far."""
        found = [each["params"]["update"] for each in self.received if each.get("method") == "session/update"]
        return [update for update in found if update["sessionUpdate"] == kind]

    def _receive(self) -> dict[str, Any]:
        while True:
            opcode, size = self._answers.read(2)
            if size >= 126:
                (size,) = struct.unpack(
                    *(">H", self._answers.read(2)) if size == 126 else (">Q", self._answers.read(8))
                )
            content = self._answers.read(size)
            if opcode == 0x81:
                message: dict[str, Any] = json.loads(content)
                return message

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def __enter__(self) -> PageSocket:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

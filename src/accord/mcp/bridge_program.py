"""Connects standard input and output to an MCP server in another process. Needs only Python.

Agents start it as if it were the MCP server itself (see `stdio_bridge`)."""

from __future__ import annotations

import os
import socket
import sys
import threading


def main() -> int:
    host, port, token = os.environ["ACCORD_MCP_BRIDGE"].split()
    try:
        server = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.stderr.write(f"couldn't connect to the client that runs this MCP server: {error}\n")
        return 1
    server.sendall(token.encode() + b"\n")
    threading.Thread(target=_send_input, args=(server,), daemon=True).start()
    while data := _receive(server):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    os._exit(0)  # the other thread may be reading standard input


def _send_input(server: socket.socket) -> None:
    try:
        while data := os.read(0, 65536):
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the server has disconnected, which the main thread detects


def _receive(server: socket.socket) -> bytes:
    try:
        return server.recv(65536)
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main())

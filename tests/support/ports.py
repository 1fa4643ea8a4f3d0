"""Free ports, for programs that can't report which port they chose."""

from __future__ import annotations

import contextlib
import random
import socket


def find_free_port() -> int:
    """Find a port below those that the system hands out, so that no other program gets it meanwhile."""
    while True:
        port = random.randrange(10_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port

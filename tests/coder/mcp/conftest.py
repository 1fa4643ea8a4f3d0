"""Servers on the official SDK that listen on loopback, one of each kind for all tests of a module."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from coder.mcp.host import HERE, everything

from accord.model.requests import McpServer


@contextmanager
def listening(kind: str, port: int = 0) -> Iterator[McpServer]:
    """Run a listening server inside the context."""
    command = [sys.executable, str(HERE / "everything_server.py"), kind, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        path = "mcp" if kind == "http" else "sse"
        yield McpServer(name="everything", transport=kind, url=f"http://127.0.0.1:{port}/{path}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def http() -> Iterator[McpServer]:
    with listening("http") as server:
        yield server


@pytest.fixture(scope="module")
def sse() -> Iterator[McpServer]:
    with listening("sse") as server:
        yield server


@pytest.fixture(params=["stdio", "http", "sse"])
def server(request: pytest.FixtureRequest) -> McpServer:
    """A server with every feature, over each transport."""
    if request.param == "stdio":
        return everything()
    found: McpServer = request.getfixturevalue(request.param)
    return found

"""Programs on a pseudo-terminal."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from process.processes import BOUND

from accord.errors import LaunchError
from accord.process.child import Child
from accord.process.pty import resize, start_on_pty


async def read_until(child: Child, words: bytes) -> bytes:
    """Reads until the program has said this."""
    said = b""
    assert child.stdout is not None
    while words not in said:
        said += await asyncio.wait_for(asyncio.to_thread(os.read, child.stdout, 1000), BOUND)
    return said


@asynccontextmanager
async def on_pty(argv: list[str], **more: Any) -> AsyncIterator[Child]:
    """A program on a terminal, for as long as it is looked at."""
    child = await start_on_pty(argv, **more)
    try:
        yield child
    finally:
        await child.stop(stdin_grace=0.0)


@pytest.fixture
def deaf() -> Iterator[None]:
    """We do not hear Ctrl-C, as behind `nohup` and in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


ASKING = ["/bin/sh", "-c", "echo name?; read name; echo hello $name; exec sleep 600"]
"""Asks for a name and sleeps. The default action of SIGINT ends it at every point: a Python program that is signalled
just before it sleeps would notice only afterwards."""


async def test_what_is_typed_is_read_and_the_keys_for_signals_work() -> None:
    async with on_pty(ASKING) as child:
        await read_until(child, b"name?")
        assert child.stdout is not None
        os.write(child.stdout, b"Ada\n")
        await read_until(child, b"hello Ada\r\n")
        os.write(child.stdout, b"\x03")  # Ctrl-C
        assert await asyncio.wait_for(child.wait(), BOUND) == -signal.SIGINT


async def test_the_keys_for_signals_work_also_where_we_ourselves_do_not_hear_them(deaf: None) -> None:
    async with on_pty(ASKING) as child:
        await read_until(child, b"name?")
        assert child.stdout is not None
        os.write(child.stdout, b"\x03")
        assert await asyncio.wait_for(child.wait(), BOUND) == -signal.SIGINT


async def test_the_command_is_named_and_not_what_goes_before_it() -> None:
    async with on_pty(["sleep", "600"]) as child:
        assert child.command == "`sleep 600`"


async def test_the_size_is_there_from_the_start_and_can_change() -> None:
    async with on_pty(["/bin/sh", "-c", "stty size; read x; stty size"], columns=70, rows=20) as child:
        await read_until(child, b"20 70\r\n")
        assert child.stdout is not None
        resize(child.stdout, 132, 50)
        os.write(child.stdout, b"\n")

        await read_until(child, b"50 132\r\n")


async def test_nothing_of_a_failed_start_is_left_open() -> None:
    await (await start_on_pty(["true"])).stop()
    before = sorted(os.listdir("/proc/self/fd"))
    for argv, env in (
        (["nosuch"], None),
        (["true", "a\0b"], None),
        (["true"], {"A=": "1", "PATH": "/bin"}),
        ([], None),
    ):
        with pytest.raises(LaunchError):
            await start_on_pty(argv, env=env)

    assert sorted(os.listdir("/proc/self/fd")) == before

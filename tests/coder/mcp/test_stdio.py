"""The pipes of a stdio server."""

from __future__ import annotations

import asyncio
from typing import cast

import anyio
import pytest

from accord.coder.mcp.sdk import load_now
from accord.coder.mcp.stdio import Lines
from accord.errors import ConnectionClosed, PeerDied
from accord.transports.subprocess import SubprocessTransport


class BrokenPipe:
    """A transport to a server that has exited, which hasn't been reported yet."""

    async def send(self, data: bytes) -> None:
        raise ConnectionClosed("can't send: Broken pipe")


async def test_a_server_that_breaks_the_pipe_is_reported_with_its_exit_status() -> None:
    sdk = load_now()
    lines = Lines(sdk, cast(SubprocessTransport, BrokenPipe()), lambda: None)
    message = sdk.SessionMessage(sdk.types.JSONRPCNotification(jsonrpc="2.0", method="ping"))
    sending = asyncio.create_task(lines.send(message))
    await asyncio.sleep(0)
    assert not sending.done()  # the write has failed, but not why

    lines.on_end(PeerDied("it exited", command="server", status=7, stderr="no configuration"))
    with pytest.raises(anyio.BrokenResourceError):
        await sending
    assert lines.why() == "it exited with status 7; its last output: no configuration"

"""Attacks over HTTP/2: what would mean something else behind a proxy ends the connection, and floods harm nobody."""

from __future__ import annotations

import asyncio
import inspect
import json
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest
from hypercorn.asyncio.worker_context import WorkerContext
from priority import PriorityTree
from support.server import INITIALIZE, Served, serving

from accord.server.listener import Address

Text = str | bytes
Headers = Sequence[tuple[str, str]]
BODY = json.dumps(INITIALIZE).encode()


class Http2Client:
    """A client that sends any headers, with prior knowledge of HTTP/2."""

    def __init__(self, served: Served, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        config = h2.config.H2Configuration(validate_outbound_headers=False, normalize_outbound_headers=False)
        self.connection = h2.connection.H2Connection(config)
        self.connection.initiate_connection()
        self._host = f"127.0.0.1:{served.port}"
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, served: Served, context: ssl.SSLContext | None = None) -> Http2Client:
        return cls(served, *await asyncio.open_connection("127.0.0.1", served.port, ssl=context))

    def send_headers(self, stream: int, method: Text, path: Text, more: Headers = (), *, is_end: bool = True) -> None:
        names = [(":method", method), (":path", path), (":scheme", "http"), (":authority", self._host)]
        self.connection.send_headers(stream, [*names, *more], end_stream=is_end)

    @property
    def is_at_end(self) -> bool:
        return self._reader.at_eof()

    async def flush(self) -> None:
        self._writer.write(self.connection.data_to_send())
        await self._writer.drain()

    async def status(self) -> int | None:
        """Return the status of the first response; None if the server ends the connection or the stream instead."""
        await self.flush()
        while data := await self._reader.read(65536):
            for event in self.connection.receive_data(data):
                if isinstance(event, h2.events.ResponseReceived):
                    return int(dict(event.headers)[b":status"])
                if isinstance(event, h2.events.ConnectionTerminated | h2.events.StreamReset):
                    return None
            await self.flush()
        return None

    def close(self) -> None:
        self._writer.close()


@pytest.mark.parametrize(
    "more",
    [
        [("content-length", "5")],
        [("transfer-encoding", "chunked")],
        [("host", "evil.example")],
        [("x-more", "a\r\nhost: evil.example")],
        [("X-Upper", "a")],
        [("connection", "close")],
    ],
    ids=["another length", "chunked", "two hosts", "line end in a value", "upper case", "connection header"],
)
async def test_headers_that_a_proxy_could_read_in_another_way_end_the_connection(more: Headers, tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await Http2Client.open(served)
        ours = [("authorization", f"Bearer {served.local_token}"), ("content-type", "application/json")]
        client.send_headers(1, "POST", "/acp", [*ours, *more], is_end=False)
        client.connection.send_data(1, BODY, end_stream=True)
        assert await client.status() is None
        client.close()
        assert len(served.server.connections) == 0


async def test_an_ordinary_request_is_served(tmp_path: Path) -> None:
    """The counterpart: it isn't HTTP/2 itself that is refused."""
    async with serving(tmp_path) as served:
        client = await Http2Client.open(served)
        ours = [("authorization", f"Bearer {served.local_token}"), ("content-type", "application/json")]
        client.send_headers(1, "POST", "/acp", ours, is_end=False)
        client.connection.send_data(1, BODY, end_stream=True)
        assert await client.status() == 200
        client.close()


async def test_requests_that_are_reset_at_once_keep_nobody_else_waiting(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        client = await Http2Client.open(served)
        for number in range(2000):
            client.send_headers(2 * number + 1, "GET", "/healthz")
            client.connection.reset_stream(2 * number + 1)
            if number % 100 == 0:
                await client.flush()
        await client.flush()
        assert (await served.request("GET", "/healthz")).status == 200
        client.close()


async def test_the_idle_timeout_of_a_connection_that_has_failed_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path), asyncio.TaskGroup() as connection:
        pass
    group: Any = SimpleNamespace(_task_group=connection)
    begun = asyncio.sleep(600)

    with pytest.raises(RuntimeError, match="is finished"):
        await WorkerContext(None).single_task_class().restart(group, lambda: begun)

    assert inspect.getcoroutinestate(begun) == inspect.CORO_CLOSED


async def test_priorities_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take as long as there are streams, of which an attacker can open a thousand."""
    changed: list[int] = []
    monkeypatch.setattr(PriorityTree, "reprioritize", lambda self, stream_id, **_: changed.append(stream_id))
    async with serving(tmp_path) as served:
        client = await Http2Client.open(served)
        for stream in range(3, 4003, 2):
            client.connection.prioritize(stream + 2, depends_on=stream)
        client.send_headers(1, "GET", "/healthz")
        assert await client.status() == 200
        client.close()
    assert not changed


def send_path_outside_ascii(client: Http2Client) -> None:
    client.send_headers(1, "GET", b"/acp\xff")


def send_method_outside_ascii(client: Http2Client) -> None:
    client.send_headers(1, b"G\xff", "/acp")


@pytest.mark.parametrize("send", [send_path_outside_ascii, send_method_outside_ascii])
async def test_what_hypercorn_cannot_read_ends_the_connection_without_a_traceback(
    send: Callable[[Http2Client], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", "accord"):
        async with serving(tmp_path) as served:
            client = await Http2Client.open(served)
            send(client)
            assert await client.status() is None
            client.close()
            assert (await served.request("GET", "/healthz")).status == 200
    assert_one_debug_line(caplog)


async def test_what_hypercorn_cannot_read_over_tls_ends_the_connection_without_a_traceback(
    certificate: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    context = ssl.create_default_context(cafile=str(certificate[0]))
    context.set_alpn_protocols(["h2"])
    with caplog.at_level("DEBUG", "accord"):
        async with serving(tmp_path, address=Address("127.0.0.1", 0, *certificate)) as served:
            client = await Http2Client.open(served, context)
            send_path_outside_ascii(client)
            assert await client.status() is None
            client.close()
    assert_one_debug_line(caplog)


async def test_a_body_after_the_response_ends_the_connection_without_a_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", "accord"):
        async with serving(tmp_path) as served:
            client = await Http2Client.open(served)
            client.send_headers(1, "POST", "/acp", is_end=False)
            assert await client.status() == 401
            with suppress(ConnectionError):
                while not client.is_at_end:  # until the server has forgotten the stream
                    client.connection.send_data(1, b"x")
                    await client.flush()
                    await asyncio.sleep(0)
            client.close()
    assert_one_debug_line(caplog)


def assert_one_debug_line(caplog: pytest.LogCaptureFixture) -> None:
    ours = [each for each in caplog.records if each.name == "accord" and "couldn't be read" in each.getMessage()]
    assert [each.levelname for each in ours] == ["DEBUG"]
    assert "\n" not in ours[0].getMessage()
    assert ours[0].exc_info is None
    assert [each for each in caplog.records if each.levelname in ("WARNING", "ERROR", "CRITICAL")] == []

"""From a URL to a connection: the token of a server on this machine is found, and sent to nobody else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.ports import find_free_port
from support.server import Echo, MemorySpawner, serving

import accord
from accord.hub.hub import Hub
from accord.hub.sqlite_log import SqliteEventLog
from accord.server.server import ServerOptions


def hub(folder: Path) -> Hub:
    return Hub(MemorySpawner(Resumable()), log=SqliteEventLog(folder / "events.db"), root=folder)


class Resumable(Echo):
    """An agent that can restore its sessions."""

    async def resume_session(self, session: accord.AgentSession) -> None:
        pass


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_client_continues_after_a_restart_that_changed_the_local_token(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    folder = tmp_path / "serve"
    folder.mkdir(mode=0o700)
    address = ServerOptions().address._replace(port=find_free_port())
    async with serving(folder, hub(folder), address=address) as served:
        first_token = served.local_token
        agent = await accord.connect(served.url.replace("http", scheme, 1), cwd=folder)
        session = await agent.new_session()
        assert (await session.prompt("before")).text == "You said: before"
    async with serving(folder, hub(folder), address=address) as served:
        try:
            assert served.local_token != first_token
            assert (await session.prompt("after")).text == "You said: after"
        finally:
            await agent.close()  # before the server, or it would be closed while it connects again


@asynccontextmanager
async def spying(host: str, port: int = 0) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Listen, and collect what clients send."""
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1000))
        writer.close()

    async with await asyncio.start_server(listen, host, port) as server:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}", heard


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_local_token_is_not_sent_to_another_server_that_localhost_may_mean(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("ACCORD_TOKEN", raising=False)
    folder = tmp_path / "serve"
    folder.mkdir(mode=0o700)
    real = socket.getaddrinfo

    def look_up(host: Any, *args: Any, **options: Any) -> Any:
        return real("127.0.0.2" if host in ("localhost", b"localhost") else host, *args, **options)

    async with serving(folder) as served, spying("127.0.0.2", served.port) as (_, heard):
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        async with accord.connect(f"{scheme}://localhost:{served.port}/acp", cwd=folder) as agent:
            assert (await (await agent.new_session()).prompt("hi")).text == "You said: hi"
    assert heard == []


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_local_token_is_not_sent_to_a_proxy(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    for name in ("ACCORD_TOKEN", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "serve"
    folder.mkdir(mode=0o700)
    async with serving(folder) as served, spying("127.0.0.1") as (proxy, heard):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        async with accord.connect(served.url.replace("http", scheme, 1), cwd=folder) as agent:
            assert (await (await agent.new_session()).prompt("hi")).text == "You said: hi"
    assert heard == []


async def test_a_file_of_tokens_that_others_can_read_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("ACCORD_TOKEN", raising=False)
    folder = tmp_path / "serve"
    folder.mkdir(mode=0o700)
    async with serving(folder) as served:
        served.local.path.chmod(0o644)
        with pytest.raises(accord.LaunchError, match="chmod 600"):
            await accord.connect(served.url, cwd=folder)

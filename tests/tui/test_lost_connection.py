"""A remote agent in the terminal client, behind a real server and a connection that is cut."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from support.cut_runs import serve
from support.hub_client import InProcessSpawner
from support.tui_driver import Opened
from support.waiting_agent import Waiting
from transports.http.cutting_proxy import CuttingProxy

from accord.config.command import remote
from accord.hub.hub import Hub


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_lost_connection_is_shown_until_it_is_restored(
    scheme: str, opened: Opened, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ACCORD_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    go_on = asyncio.Event()
    async with (
        Hub(InProcessSpawner(lambda: Waiting(go_on)), root=folders) as hub,
        serve(hub) as port,
        CuttingProxy.run(port) as proxy,
    ):
        command = remote(f"{scheme}://127.0.0.1:{proxy.port}/acp").argv
        async with opened(lambda: cast("Any", command)) as chat:
            await chat.send("hello")
            await chat.until("one")
            proxy.refuse()
            await chat.until("Connection lost. Reconnecting…")
            proxy.accept()
            await chat.until("Reconnected")
            await chat.gone("Connection lost")
            go_on.set()
            await chat.until("one two")

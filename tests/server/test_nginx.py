"""A server behind nginx, under a prefix: event streams, WebSockets and addresses pass through it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support import programs
from support.ports import find_free_port
from support.prerequisites import require
from support.server import Echo, MemorySpawner, Served, serving

import accord
from accord.hub.hub import Hub
from accord.transports.base import Transport
from accord.transports.http.client import open_url
from accord.transports.http.options import HttpOptions

CONFIGURATION = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log; user root;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location /agents/ {{
            proxy_pass http://127.0.0.1:{server}{slash};
            proxy_http_version 1.1;
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection;
            proxy_buffering off;
        }}
    }}
}}
"""


@asynccontextmanager
async def nginx(folder: Path, served: Served, port: int, slash: str) -> AsyncIterator[str]:
    """Run nginx in front of a server; yields the URL of the agent behind it."""
    program = programs.find("nginx")
    require(None if program else "nginx is not installed")
    assert program
    file = folder / "nginx.conf"
    text = CONFIGURATION.format(folder=folder, port=port, server=served.port, slash=slash)
    file.write_text(text if os.geteuid() == 0 else text.replace("user root;", ""))
    process = await asyncio.create_subprocess_exec(program, "-c", str(file), "-p", str(folder))
    try:
        while not (folder / "nginx.pid").exists():
            assert process.returncode is None, (folder / "error.log").read_text()
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{port}/agents/acp"
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.parametrize("slash", ["/", ""], ids=["nginx removes the prefix", "nginx keeps the prefix"])
async def test_a_session_works_behind_nginx_under_a_prefix(slash: str, tmp_path: Path) -> None:
    hub = Hub(MemorySpawner(Echo()), root=tmp_path)
    async with serving(tmp_path, hub, behind_proxy=True, prefix="/agents") as served:
        token = served.token("anna")
        async with nginx(tmp_path, served, find_free_port(), slash) as url:
            for scheme in ("http", "ws"):

                async def open(place: str = url.replace("http", scheme, 1)) -> Transport:
                    return await open_url(place, HttpOptions(token=token))

                async with accord.connect(open, cwd=tmp_path) as agent:
                    turn = await (await agent.new_session()).prompt("hello")
                    assert turn.text == "You said: hello"
    assert {entry["address"] for entry in served.audit_entries("connected")} == {"127.0.0.1"}

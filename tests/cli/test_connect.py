"""accord connect: a remote agent for editors. Real processes, a real server, and a proxy that breaks connections."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.cut_conversation import Conversation, Shape, Talker
from support.cut_runs import SCHEMES, Scheme, serve
from support.faulty_proxy import Fault, run_proxy
from support.hub_client import InProcessSpawner
from support.waiting_agent import Waiting
from transports.http.cutting_proxy import CuttingProxy
from transports.http.web_server import make_certificate, run_server

import accord
from accord import Agent, AuthMethod, AuthRequired, Turn
from accord.hub.hub import Hub

BOUND = 300.0
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


class Ended(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"ACCORD_{name}_HOME", str(tmp_path / name))
    for name in ("ACCORD_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "accord", *words]


async def run(*words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended:
    process = await asyncio.create_subprocess_exec(
        *command(*words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    async with asyncio.timeout(BOUND):
        out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


class Guarded:
    """An ASGI application that requires a token."""

    def __init__(self, app: Any, token: str) -> None:
        self.app, self.token = app, token
        self.headers: list[dict[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self.headers.append(headers)
            if headers.get("authorization") != f"Bearer {self.token}":
                kind = "http.response" if scope["type"] == "http" else "websocket.http.response"
                await send({"type": f"{kind}.start", "status": 401, "headers": []})
                await send({"type": f"{kind}.body", "body": b""})
                return
        await self.app(scope, receive, send)


class Places(Agent):
    """Reports its directory, reads a file of the client, and shows a location."""

    async def prompt(self, turn: Turn) -> None:
        cwd = turn.session.cwd
        text = await turn.files.read(f"{cwd}/notes.txt")
        async with turn.tool("Read", kind="read", locations=[f"{cwd}/notes.txt:3"]):
            await turn.say(f"{cwd}: {text}")


@pytest.fixture
async def guarded() -> AsyncIterator[tuple[Guarded, int]]:
    app = Guarded(accord.asgi(Talker()), "secret-token")
    async with run_server(app, "uvicorn") as server:
        yield app, server.port


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_an_editor_does_not_notice_that_the_connection_is_lost(scheme: Scheme, tmp_path: Path) -> None:
    heard: list[str] = []
    shape = Shape(sessions=1, turns=2, words=3)
    async with (
        Hub(InProcessSpawner(lambda: Talker(shape.words, heard)), root=tmp_path) as hub,
        serve(hub) as port,
        run_proxy(port) as proxy,
    ):
        conversation = Conversation(shape)
        target = command("connect", f"{scheme}://127.0.0.1:{proxy.port}/acp")
        async with accord.connect(target, cwd=tmp_path, permissions=conversation.permit) as agent:
            proxy.add(*(Fault(at) for at in range(1500, 20_000, 2500)))
            await conversation.run(agent, str(tmp_path))
        assert conversation.check(heard).is_clean
        assert proxy.done >= 2


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_paths_are_mapped_in_both_directions(scheme: Scheme, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    async with run_server(accord.asgi(Places()), "uvicorn") as server:
        target = command(
            "connect", f"{scheme}://127.0.0.1:{server.port}/acp", "--map", f"{tmp_path}=/far/away", "--header", "X-A: b"
        )
        workspace = accord.LocalWorkspace(tmp_path, policy=accord.Policy(tmp_path))
        async with accord.connect(target, cwd=tmp_path, workspace=workspace) as agent:
            session = await agent.new_session()
            turn = await session.prompt("where?")
        assert turn.text == "/far/away: hello"
        (call,) = turn.tool_calls
        assert call.locations[0].path == str(tmp_path / "notes.txt")


async def test_a_token_is_found_in_the_environment_or_among_the_saved_ones(guarded: tuple[Guarded, int]) -> None:
    app, port = guarded
    url = f"ws://127.0.0.1:{port}/acp"
    refused = await run("connect", url, stdin=json.dumps(INITIALIZE).encode() + b"\n")
    assert refused.status == 1
    assert "requires a valid token" in refused.err
    assert "ACCORD_TOKEN" in refused.err
    answer = json.loads(refused.out)
    assert (answer["id"], answer["error"]["code"]) == (0, -32000)
    assert "requires a valid token" in answer["error"]["message"]

    async with accord.connect(command("connect", url), env={"ACCORD_TOKEN": "secret-token"}) as agent:
        assert agent.version == 1
    saved = await run("connect", f"http://127.0.0.1:{port}/acp", "--save-token", stdin=b"secret-token\n")
    assert saved.status == 0
    assert "secret-token" not in saved.out + saved.err
    async with accord.connect(command("connect", url, "--header", "X-Team: blue")) as agent:
        assert agent.version == 1
    assert app.headers[-1]["x-team"] == "blue"


async def test_saved_tokens_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    await run("connect", "https://example.org/acp", "--save-token", "--token", "abc")
    file = tmp_path / "DATA" / "remote" / "tokens.json"
    assert json.loads(file.read_text()) == {"https://example.org:443": "abc"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_an_unknown_certificate_is_refused_unless_it_is_given(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    async with run_server(accord.asgi(Talker()), "uvicorn", certificate=certificate) as server:
        refused = await run("connect", f"https://localhost:{server.port}/acp", stdin=b"")
        assert refused.status == 1
        assert "certificate of localhost" in refused.err
        target = command("connect", f"https://localhost:{server.port}/acp", "--ca", str(certificate.cert))
        async with accord.connect(target) as agent:
            assert agent.version == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ftp://example.org"], "isn't the URL of an agent"),
        (["https://me:secret@example.org/acp"], "can't contain a password"),
        (["https://example.org/acp", "--map", "here"], "expected LOCAL=REMOTE"),
        (["https://example.org/acp", "--header", "nothing"], "expected 'NAME: VALUE'"),
        ([], "missing argument"),
    ],
)
async def test_wrong_usage_is_explained(words: list[str], message: str) -> None:
    done = await run("connect", *words)
    assert done.status == 2
    assert message in done.err.lower() or message in done.err


async def test_run_and_doctor_accept_a_url(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Hub(InProcessSpawner(lambda: Talker(1, heard)), root=tmp_path) as hub, serve(hub) as port:
        url = f"ws://127.0.0.1:{port}/acp"
        done = await run("run", "-a", url, "--cwd", str(tmp_path), "--allow", "all", "hello")
        assert done.status == 0, done.err
        assert done.out.split() == ["hello.0", "hello.allowed", "hello.1"]
        checked = await run("doctor", f"http://127.0.0.1:{port}/acp", "--cwd", str(tmp_path))
    assert checked.status == 0, checked.out
    stages = [line.split()[1].rstrip(":") for line in checked.out.splitlines() if line.startswith("ok")]
    assert stages == [
        *("configuration", "permissions", "resolve", "dns", "tcp", "token", "http", "initialize", "auth", "session"),
        "prompt",
    ]


class Locked(Agent):
    """Requires a login, which a terminal on its own machine has too."""

    auth_methods = (
        AuthMethod(id="key", name="API key", meta={"terminal-auth": {"command": "true"}}),
        AuthMethod(id="page", name="Web page"),
    )

    async def login(self, method_id: str, client: accord.Client) -> None:
        raise AuthRequired

    async def prompt(self, turn: Turn) -> None:
        raise AuthRequired("log in first")


async def test_terminal_logins_of_a_remote_agent_are_not_offered(tmp_path: Path) -> None:
    async with run_server(accord.asgi(Locked()), "uvicorn") as server:
        url = f"ws://127.0.0.1:{server.port}/acp"
        done = await run("run", "-a", url, "--cwd", str(tmp_path), "hello")
        checked = await run("doctor", url, "--cwd", str(tmp_path), "--prompt", "hello")
    assert done.err == "accord: log in first; log in first, with 'Web page': run this command once in a terminal\n"
    assert "log in with: page: Web page (agent); " in checked.out


class Shell(Locked):
    auth_methods = (*Locked.auth_methods, AuthMethod(id="shell", name="Shell", kind="terminal", args=["--login"]))


@pytest.mark.parametrize("version", [1, 2])
async def test_an_editor_with_a_terminal_gets_no_terminal_logins_of_a_remote_agent(version: int) -> None:
    async def log_in(method: AuthMethod) -> bool:
        raise AssertionError("no terminal login is listed")

    async with run_server(accord.asgi(Shell()), "uvicorn") as server:
        target = command("connect", f"ws://127.0.0.1:{server.port}/acp")
        async with accord.connect(target, versions={version}, terminal_login=log_in) as agent:
            assert [method.id for method in agent.auth_methods] == ["page"]


@pytest.mark.parametrize("as_json", [False, True])
async def test_run_reports_a_lost_connection_and_the_turn_continues(as_json: bool, tmp_path: Path) -> None:
    go_on = asyncio.Event()
    async with (
        Hub(InProcessSpawner(lambda: Waiting(go_on)), root=tmp_path) as hub,
        serve(hub) as port,
        CuttingProxy.run(port) as proxy,
    ):
        options = ["--json"] if as_json else []
        process = await asyncio.create_subprocess_exec(
            *command("run", "-a", f"ws://127.0.0.1:{proxy.port}/acp", "--cwd", str(tmp_path), *options, "hello"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = process.stdout, process.stderr
        assert out is not None and err is not None
        async with asyncio.timeout(BOUND):
            said = await out.readuntil(b"one")
            proxy.cut()
            told, reported = (out, b'"resumed"') if as_json else (err, b"Reconnected after")
            reports = await told.readuntil(reported)
            go_on.set()
            rest, _ = await process.communicate()
    assert process.returncode == 0
    if as_json:
        lines = (said + reports + rest).decode().splitlines()
        events = [json.loads(line)["event"] for line in lines]
        shown = [event for event in events if event in ("text", "disconnected", "resumed", "ended")]
        assert shown == ["text", "disconnected", "resumed", "text", "ended"]
    else:
        assert (said + rest).decode().split() == ["one", "two"]
        assert b"Connection lost. Reconnecting\xe2\x80\xa6" in reports


async def test_the_doctor_names_the_stage_that_fails(guarded: tuple[Guarded, int], tmp_path: Path) -> None:
    _, port = guarded
    certificate = make_certificate(tmp_path)
    async with run_server(accord.asgi(Talker()), "uvicorn", certificate=certificate) as server:
        cases = {
            "http://no-such-host.invalid/acp": "dns",
            "http://127.0.0.1:1/acp": "tcp",
            f"https://localhost:{server.port}/acp": "tls",
            f"http://127.0.0.1:{port}/acp": "token",
        }
        for url, stage in cases.items():
            done = await run("doctor", "--json", url)
            last = json.loads(done.out.splitlines()[-1])
            assert (done.status, last["stage"], last["ok"]) == (1, stage, False), done.out
            assert last["advice"]
        wrong = await run("doctor", "--json", f"http://127.0.0.1:{port}/wrong", env={"ACCORD_TOKEN": "secret-token"})
        assert json.loads(wrong.out.splitlines()[-1])["stage"] == "http"

"""The official SDKs with a real `accord serve`: their clients with our agent behind it, and their agents behind it.

The whole scenario each: new session, streaming, tool calls, permission, files, terminal, cancelling, two sessions at
once; then another client process loads the session. All clients of a server use it at the same address, with a token
from `accord serve token new`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from peers import commands
from peers.client_run import ClientRun
from support.cli_runner import Accord
from support.prerequisites import require
from support.serve_process import ServeProcess

import accord
from accord.client.agent import ConnectedAgent
from accord.client.session import Session
from accord.transcript.message import Message

pytestmark = pytest.mark.peer

AGENT = Path(__file__).resolve().parents[1] / "agents" / "interop_agent.py"
PEERS = ["py-v1", "ts-v1", "ts-v2"]
SCHEMES = ["http", "ws"]
SAID = ("user_message", "user_message_chunk", "agent_message", "agent_message_chunk")

# The server runs commands and writes files itself. Its policy has no rule for them, so it asks the client.
STEPS: dict[str, dict[str, Any]] = {
    "new": {"do": "new"},
    "hello big world": {"do": "prompt", "text": "hello big world"},
    "tool": {"do": "prompt", "text": "tool"},
    "terminal": {"do": "prompt", "text": "terminal echo hi there", "permission": "allow_once"},
    "read": {"do": "prompt", "text": "read notes.md", "permission": "allow_once"},
    "write": {"do": "prompt", "text": "write out.md some text", "permission": "allow_once"},
    "allow": {"do": "prompt", "text": "permission", "permission": "allow_once"},
    "reject": {"do": "prompt", "text": "permission", "permission": "reject_once"},
    "cancel while asked": {"do": "prompt", "text": "permission", "permission": "cancel"},
    "elicit": {"do": "prompt", "text": "elicit", "elicitation": {"name": "Ada"}},
    "wait": {"do": "prompt", "text": "wait", "cancel": True},
    "after cancel": {"do": "prompt", "text": "still here"},
    "big": {"do": "prompt", "text": "big 1000000"},
    "fail": {"do": "prompt", "text": "fail"},
    "set option": {"do": "option", "option": "model", "value": "deep"},
    "together": {"do": "together", "texts": ["first session", "second session"]},
}


class Served(NamedTuple):
    """A server with a token of another machine's client."""

    serving: ServeProcess
    project: Path
    token: str

    def url(self, scheme: str) -> str:
        return self.serving.url_for(scheme)

    def play(
        self, client: str, agent: list[str], steps: dict[str, dict[str, Any]], cwd: Path | None = None
    ) -> ClientRun:
        """Let the client of an SDK play steps, with a URL or a command as agent."""
        command = commands.client(client[:2], int(client[-1]))  # type: ignore[arg-type]
        env = self.serving.accord.environment({"ACCORD_TOKEN": self.token})
        lines = commands.play(command, agent, *steps.values(), cwd=cwd or self.project, token=self.token, env=env)
        return ClientRun(steps, lines)


@contextmanager
def serve(folder: Path, agent: list[str], *options: str) -> Iterator[Served]:
    command = Accord(folder)
    (command.project / "notes.md").write_text("one\ntwo\n")
    token = command("serve", "token", "new", "laptop").out.strip()
    serving = ServeProcess.start(command, *options, "--", *agent)
    try:
        yield Served(serving, command.project, token)
        done = serving.end()
        assert done.status == 0 and "Traceback" not in done.err, done.err
    finally:
        serving.kill()


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    require(commands.missing(name[:2]))  # type: ignore[arg-type]
    return name


# -- their clients, our agent


@pytest.fixture(scope="module")
def our_agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Our scenario agent behind one server for all tests."""
    folder = tmp_path_factory.mktemp("ours")
    with serve(folder, [sys.executable, str(AGENT), str(folder / "project")]) as served:
        yield served


@pytest.mark.parametrize("scheme", SCHEMES)
def test_their_client_with_our_agent_behind_a_server(peer: str, scheme: str, our_agent: Served) -> None:
    check_scenario(peer, [our_agent.url(scheme)], our_agent)


def check_scenario(client: str, agent: list[str], served: Served) -> None:
    version = int(client[-1])
    (served.project / "out.md").unlink(missing_ok=True)
    seen = served.play(client, agent, STEPS)

    assert seen.one("initialize", "initialize")["result"]["protocolVersion"] == version
    assert (seen.texts("hello big world"), seen.stop("hello big world")) == (["hello ", "big ", "world"], "end_turn")
    assert seen.call("tool")["status"] == "completed"
    assert seen.texts("terminal") == ["hi there\n", "exit 0"]
    if version == 1:
        assert seen.texts("read") == ["one\ntwo\n"]
        assert (seen.texts("write"), (served.project / "out.md").read_text()) == (["written"], "some text")
        assert seen.all("terminal", "permission") and seen.all("write", "permission"), "the server's policy asks"
        assert not seen.all("terminal", "request"), "the server runs the command"
    assert (seen.texts("allow"), seen.texts("reject")) == (["allowed"], ["denied"])
    assert seen.stop("cancel while asked") == "cancelled"
    assert seen.texts("elicit") == ["hello Ada"]
    assert (seen.texts("wait"), seen.stop("wait")) == (["waiting"], "cancelled")
    assert (seen.texts("after cancel"), seen.stop("after cancel")) == (["still ", "here"], "end_turn")
    assert seen.texts("big") == ["x" * 1_000_000]
    assert seen.one("fail", "error") if version == 1 else seen.one("fail", "stop")
    assert seen.one("set option", "answer")
    assert [line["reason"] for line in seen.all("together", "stop")] == ["end_turn", "end_turn"]
    assert sorted(seen.texts("together")) == ["first ", "second ", "session", "session"]
    check_loading(client, agent, served, seen.one("new", "session")["id"])


def check_loading(client: str, agent: list[str], served: Served, session: str) -> None:
    """Check that another process of the client can list, load and continue the session."""
    steps = {
        "list": {"do": "list"},
        "load": {"do": "load", "session": session},
        "after load": {"do": "prompt", "text": "and now"},
        "load unknown": {"do": "load", "session": "nobody"},
    }
    seen = served.play(client, agent, steps)
    assert session in [listed["sessionId"] for listed in seen.one("list", "answer")["result"]["sessions"]]
    # With HTTP, the answer to `load` and the replay are on two streams, between which other clients know no order.
    updates = [*seen.updates("load", *SAID), *seen.updates("after load", *SAID)]
    roles, texts = zip(*((update["sessionUpdate"].split("_")[0], text_of(update)) for update in updates), strict=True)
    assert (roles[0], texts[0]) == ("user", "hello big world")
    assert "".join(texts[1:]).startswith("hello big worldtooledited")
    assert "".join(texts).endswith("and now")
    assert seen.stop("after load") == "end_turn"
    assert seen.code("load unknown") == -32002


def text_of(update: dict[str, Any]) -> str:
    content = update["content"]
    return "".join(block["text"] for block in content) if isinstance(content, list) else str(content["text"])


def test_the_clients_own_files_and_terminals_are_used_with_client_files(tmp_path: Path) -> None:
    require(commands.missing("py"))
    steps = {
        name: {key: value for key, value in STEPS[name].items() if key != "permission"}
        for name in ("new", "terminal", "read", "write")
    }
    with serve(tmp_path, [sys.executable, str(AGENT), str(tmp_path / "project")], "--client-files") as served:
        seen = served.play("py-v1", [served.url("ws")], steps)
    assert seen.texts("terminal") == ["hi there\n", "exit 0"]
    assert [line["method"].split("/")[1] for line in seen.all("terminal", "request")] == [
        "create",
        "wait_for_exit",
        "output",
        "release",
    ]
    assert (seen.texts("read"), seen.texts("write")) == (["one\ntwo\n"], ["written"])
    assert [seen.one(step, "request")["method"] for step in ("read", "write")] == [
        "fs/read_text_file",
        "fs/write_text_file",
    ]


# -- editors, which start `accord connect`


def test_their_client_on_stdio_starts_accord_connect(peer: str, our_agent: Served) -> None:
    """Directories of the editor's machine are mapped to those of the server's, and back."""
    local = our_agent.project.parent / f"laptop-{peer}"
    local.mkdir()
    url = our_agent.url("ws" if peer == "ts-v1" else "http")
    connect = [sys.executable, "-m", "accord", "connect", url, "--map", f"{local}={our_agent.project}"]
    names = (
        "new",
        "hello big world",
        "tool",
        "terminal",
        "read",
        "allow",
        "reject",
        "wait",
        "after cancel",
        "together",
    )
    seen = our_agent.play(peer, connect, {name: STEPS[name] for name in names}, cwd=local)

    assert seen.one("initialize", "initialize")["result"]["protocolVersion"] == int(peer[-1])
    assert (seen.texts("hello big world"), seen.stop("hello big world")) == (["hello ", "big ", "world"], "end_turn")
    call = seen.call("tool")
    assert [location["path"] for location in call["locations"]] == [str(local / "notes.txt")]
    assert str(our_agent.project) + "/" not in str(call["content"]), "a diff has the editor's paths"
    assert str(local / "notes.txt") in str(call["content"])
    assert seen.texts("terminal") == ["hi there\n", "exit 0"]
    if peer.endswith("v1"):
        assert seen.texts("read") == ["one\ntwo\n"]
    assert (seen.texts("allow"), seen.texts("reject")) == (["allowed"], ["denied"])
    assert (seen.texts("wait"), seen.stop("wait")) == (["waiting"], "cancelled")
    assert seen.texts("after cancel") == ["still ", "here"]
    assert sorted(seen.texts("together")) == ["first ", "second ", "session", "session"]

    session = seen.one("new", "session")["id"]
    again = {"list": {"do": "list"}, "load": {"do": "load", "session": session}}
    loaded = our_agent.play(peer, connect, again, cwd=local)
    listed = {each["sessionId"]: each["cwd"] for each in loaded.one("list", "answer")["result"]["sessions"]}
    assert listed[session] == str(local)
    assert text_of(loaded.updates("load", *SAID)[0]) == "hello big world"


# -- their agents


@pytest.fixture(scope="module", params=["ts-v1", "ts-v2"])
def their_agent(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Served]]:
    """Their scenario agent behind a server, with the name of the agent."""
    name: str = request.param
    require(commands.missing("ts", "py"))
    with serve(tmp_path_factory.mktemp("theirs"), commands.agent("ts", int(name[-1]))) as served:
        yield name, served


def test_their_client_with_their_agent_behind_our_server(their_agent: tuple[str, Served]) -> None:
    name, served = their_agent
    client = "py-v1" if name == "ts-v1" else "ts-v2"  # the Python SDK has no version 2
    check_scenario(client, [served.url("http" if name == "ts-v1" else "ws")], served)


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_our_client_with_their_agent_behind_our_server(scheme: str, their_agent: tuple[str, Served]) -> None:
    name, served = their_agent
    version = int(name[-1])
    decisions: list[Any] = ["yes", "no"]

    async def decide(request: accord.PermissionRequest) -> Any:
        return decisions.pop(0) if request.title == "Delete the notes" else True

    (served.project / "out.md").unlink(missing_ok=True)
    async with connect(served, scheme, version, permissions=decide) as agent:
        session = await play_scenario(agent, version, served.project)
        texts = texts_of(session)
        assert not decisions
    async with connect(served, scheme, version) as agent:
        assert session.id in [each.id async for each in agent.list_sessions()]
        loaded = await agent.load_session(session.id)
        assert texts_of(loaded) == texts
        assert (await loaded.prompt("and now")).text == "and now"


def connect(served: Served, scheme: str, version: int, **options: Any) -> Any:
    return accord.connect(served.url(scheme), cwd=served.project, token=served.token, versions={version}, **options)


def texts_of(session: Session) -> list[str]:
    return [message.text for message in session.transcript.timeline if isinstance(message, Message)]


async def play_scenario(agent: ConnectedAgent, version: int, project: Path) -> Session:
    assert agent.version == version
    session = await agent.new_session()
    assert (await session.prompt("hello big world")).text == "hello big world"
    assert (await session.prompt("tool")).text == "edited"
    assert [call.status for call in session.transcript.tool_calls.values()] == ["completed"]
    assert (await session.prompt("terminal echo hi there")).text == "hi there\nexit 0"
    if version == 1:
        assert (await session.prompt("read notes.md")).text == "one\ntwo\n"
        assert (await session.prompt("write out.md some text")).text == "written"
        assert (project / "out.md").read_text() == "some text"
    assert (await session.prompt("permission")).text == "allowed"
    assert (await session.prompt("permission")).text == "denied"
    turn = session.prompt("wait")
    async for event in turn:
        if isinstance(event, accord.Text):
            await turn.cancel()
    assert turn.stop_reason == "cancelled"
    assert (await session.prompt("still here")).text == "still here"
    assert len((await session.prompt("big 1000000")).text) == 1_000_000
    one, two = await asyncio.gather(agent.new_session(), agent.new_session())
    turns = await asyncio.gather(one.prompt("first session"), two.prompt("second session"))
    assert [turn.text for turn in turns] == ["first session", "second session"]
    return session

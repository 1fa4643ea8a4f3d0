"""Files and terminals lent to an agent: the rules of the wire, whatever the workspace behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.link import until
from support.wire_agent import Played

from accord import ConnectionClosed, ExitStatus, TerminalChanged, TerminalOutput, Workspace
from accord.client.workspace import TerminalState
from accord.testing import ScriptedClient, WirePeer, wire_agent


@asynccontextmanager
async def lent(workspace: Workspace | None) -> AsyncIterator[tuple[WirePeer, Any]]:
    async with wire_agent(1, workspace=workspace) as (peer, client):
        session = await Played(peer, client, 1).begin()
        yield peer, session


def file(path: str, **more: Any) -> dict[str, Any]:
    return {"sessionId": "s", "path": path, **more}


@pytest.mark.req("V1-FS-03", "V1-FS-04", "V1-FS-05", "V1-FS-06", "V1-FS-07")
async def test_files_are_read_by_line_and_written_whole() -> None:
    script = ScriptedClient(files={"/project/a": "one\ntwo\nthree\n"})
    async with lent(script) as (peer, _):
        reads = [
            (await peer.call("fs/read_text_file", file("/project/a", **how)))["result"]["content"]
            for how in (
                {},
                {"line": 2},
                {"line": 2, "limit": 1},
                {"line": 0},
                {"line": 9},
                {"limit": 0},
                {"line": None, "limit": None},
            )
        ]
        written = await peer.call("fs/write_text_file", file("/project/new", content="x\r\n"))

    whole = "one\ntwo\nthree\n"
    assert reads == [whole, "two\nthree\n", "two\n", whole, "", "", whole]
    assert written["result"] == {}
    assert script.files["/project/new"] == "x\r\n"


@pytest.mark.req("V1-FS-09", "V1-FS-08", "V1-SETUP-23")
@pytest.mark.parametrize(
    ("params", "code"),
    [
        (file("a.txt"), -32602),
        (file("/project/absent"), -32002),
        ({"sessionId": "other", "path": "/project/a"}, -32002),
        (file("/project/a", line=-1), -32602),
        (file("/project/a", limit="many"), -32602),
        ({"sessionId": "s"}, -32602),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_fitting_code(params: dict[str, Any], code: int) -> None:
    async with lent(ScriptedClient(files={"/project/a": ""})) as (peer, _):
        refused = await peer.call("fs/read_text_file", params)

    assert refused["error"]["code"] == code


@pytest.mark.req("V1-FS-02", "V1-TERM-01", "V1-INIT-24")
async def test_what_is_not_lent_is_not_served() -> None:
    class OnlyReads(Workspace):
        async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
            return "text"

    async with lent(OnlyReads()) as (peer, _):
        assert (await peer.call("fs/read_text_file", file("/a")))["result"] == {"content": "text"}
        for method in ("fs/write_text_file", "terminal/create", "terminal/output", "terminal/release"):
            refused = await peer.call(method, file("/a", content="", command="ls", terminalId="t"))
            assert refused["error"]["code"] == -32601
    async with lent(None) as (peer, _):
        assert (await peer.call("fs/read_text_file", file("/a")))["error"]["code"] == -32601


@pytest.mark.req("V2-TERM-11", "V2-TERM-13")
async def test_in_version_2_nothing_is_lent() -> None:
    class Everything(ScriptedClient):
        def on_version(self, version: int) -> None:
            return

    async with wire_agent(2, workspace=Everything(files={"/a": ""})) as (peer, client):
        await Played(peer, client, 2).begin()
        for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/kill"):
            assert (await peer.call(method, file("/a")))["error"]["code"] == -32601


async def test_what_a_lent_terminal_printed_is_in_the_transcript() -> None:
    script = ScriptedClient(commands={"make test": ("3 passed\n", 0)})
    async with wire_agent(1, workspace=script) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        made = await peer.call("terminal/create", {"sessionId": "s", "command": "make", "args": ["test"]})
        terminal = {"sessionId": "s", "terminalId": made["result"]["terminalId"]}
        await peer.call("terminal/wait_for_exit", terminal)
        await peer.call("terminal/output", terminal)
        await peer.call("terminal/release", terminal)
        await played.end(session, request)
        events = [event async for event in turn]

    told = session.transcript.terminals[terminal["terminalId"]]
    assert (told.command, told.cwd, told.text, told.exit) == (
        "make test",
        "/project",
        "3 passed\n",
        ExitStatus(code=0),
    )
    assert [event.data for event in events if isinstance(event, TerminalOutput)] == [b"3 passed\n"]
    assert [event.terminal.exit for event in events if isinstance(event, TerminalChanged)] == [None, ExitStatus(code=0)]


@pytest.mark.parametrize(
    ("first", "then", "pieces"),
    [("one\n", "one\ntwo\n", [b"one\n", b"two\n"]), ("one\ntwo\n", "two\nthree\n", [b"one\ntwo\n"])],
)
async def test_output_grows_in_the_transcript_and_loses_its_beginning_with_the_workspaces(
    first: str, then: str, pieces: list[bytes]
) -> None:
    class Printing(ScriptedClient):
        states = [TerminalState(output=first), TerminalState(output=then), TerminalState(output=then)]

        async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
            return self.states.pop(0)

    async with wire_agent(1, workspace=Printing(commands={"server": ("", None)})) as (peer, client):
        session = await Played(peer, client, 1).begin()
        heard = session.events()
        made = await peer.call("terminal/create", {"sessionId": "s", "command": "server"})
        terminal = {"sessionId": "s", "terminalId": made["result"]["terminalId"]}
        for method in ("terminal/output", "terminal/output", "terminal/release"):
            await peer.call(method, terminal)
        assert session.transcript.terminals[terminal["terminalId"]].text == then
    assert [event.data async for event in heard if isinstance(event, TerminalOutput)] == pieces


async def test_output_that_cannot_be_read_fails_nothing_else() -> None:
    class Forgetful(ScriptedClient):
        async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
            raise OSError("forgotten")

    async with lent(Forgetful(commands={"ls": ("a", 0)})) as (peer, _):
        made = await peer.call("terminal/create", {"sessionId": "s", "command": "ls"})
        terminal = {"sessionId": "s", "terminalId": made["result"]["terminalId"]}
        assert (await peer.call("terminal/wait_for_exit", terminal))["result"] == {"exitCode": 0}
        assert (await peer.call("terminal/release", terminal))["result"] == {}


@pytest.mark.req("V1-TERM-03", "V1-TERM-04", "V1-TERM-05", "V1-TERM-06", "V1-TERM-09", "V1-TERM-10", "V1-TERM-11")
@pytest.mark.req("V1-TERM-02", "V1-TERM-12", "V1-TERM-17")
async def test_a_terminal_lives_from_its_creation_to_its_release() -> None:
    script = ScriptedClient(commands={"server -v": ("listening", None)})
    async with lent(script) as (peer, _):
        made = await peer.call("terminal/create", {"sessionId": "s", "command": "server", "args": ["-v"], "env": None})
        id = made["result"]["terminalId"]
        terminal = {"sessionId": "s", "terminalId": id}
        waiting = await peer.ask("terminal/wait_for_exit", terminal)
        before = (await peer.call("terminal/output", terminal))["result"]
        killed = await peer.call("terminal/kill", terminal)
        exit_status = (await peer.answer_to(waiting))["result"]
        after = (await peer.call("terminal/output", terminal))["result"]
        released = await peer.call("terminal/release", terminal)
        gone = [
            await peer.call(method, terminal) for method in ("terminal/output", "terminal/kill", "terminal/release")
        ]

    assert before == {"output": "listening", "truncated": False}
    assert (killed["result"], released["result"]) == ({}, {})
    assert exit_status == {"signal": "SIGTERM"}
    assert after == {"output": "listening", "truncated": False, "exitStatus": {"signal": "SIGTERM"}}
    assert [answer["error"]["code"] for answer in gone] == [-32002] * 3
    assert (script.started[0].cwd, script.started[0].env) == ("/project", {})


@pytest.mark.req("V1-TERM-04")
async def test_a_terminal_begins_in_an_absolute_directory() -> None:
    async with lent(ScriptedClient()) as (peer, _):
        refused = await peer.call("terminal/create", {"sessionId": "s", "command": "ls", "cwd": "sub"})

    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"path": "cwd"})


@pytest.mark.req("V1-TERM-12")
async def test_a_session_has_no_business_with_the_terminals_of_another() -> None:
    script = ScriptedClient(commands={"x": ("secret", 0)})
    async with wire_agent(1, workspace=script) as (peer, client):
        played = Played(peer, client, 1)
        await played.begin("s")
        await played.begin("t")
        id = (await peer.call("terminal/create", {"sessionId": "s", "command": "x"}))["result"]["terminalId"]
        refused = await peer.call("terminal/output", {"sessionId": "t", "terminalId": id})

    assert refused["error"]["code"] == -32002


@pytest.mark.req("V1-TERM-18")
async def test_what_an_agent_leaves_behind_is_released_when_it_is_gone() -> None:
    script = ScriptedClient(commands={"x": ("", None)})
    async with lent(script) as (peer, session):
        for _ in range(2):
            await peer.call("terminal/create", {"sessionId": "s", "command": "x"})
        await peer.transport.close()
        await until(lambda: session.closed)
        await until(lambda: len(script.released) == 2)
        with pytest.raises(ConnectionClosed):
            session.prompt("hi")

    assert script.released == ["terminal-1", "terminal-2"]


async def test_one_terminal_that_cannot_be_released_does_not_keep_the_others() -> None:
    class Stubborn(ScriptedClient):
        async def release_terminal(self, session_id: str, terminal_id: str) -> None:
            if terminal_id == "terminal-1":
                raise OSError("stuck")
            await super().release_terminal(session_id, terminal_id)

    script = Stubborn(commands={"x": ("", None)})
    async with lent(script) as (peer, _):
        for _ in range(2):
            await peer.call("terminal/create", {"sessionId": "s", "command": "x"})

    assert script.released == ["terminal-2"]


@pytest.mark.req("V1-TERM-06", "V1-TERM-09")
async def test_an_exit_may_have_a_code_a_signal_or_neither() -> None:
    class Odd(ScriptedClient):
        async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
            return TerminalState(output="", exit=ExitStatus())

    async with lent(Odd(commands={"x": ("", 3)})) as (peer, _):
        id = (await peer.call("terminal/create", {"sessionId": "s", "command": "x"}))["result"]["terminalId"]
        terminal = {"sessionId": "s", "terminalId": id}
        waited = (await peer.call("terminal/wait_for_exit", terminal))["result"]
        output = (await peer.call("terminal/output", terminal))["result"]

    assert waited == {"exitCode": 3}
    assert output["exitStatus"] == {}

"""Files and terminals: the client's where they are offered (version 1), the agent's own where they are not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import is_alive
from support.link import Link, script_agent, until
from support.wire_client import ask, begin_session

from accord import AccordError, ExitStatus, NotFound, RemoteProtocolError, RequestFailed, TextContent, Turn
from accord.agent.workspace import Output
from accord.model.tool import TerminalRef
from accord.testing import ScriptedClient, wire_client
from accord.testing import link as link_in


async def play(script: ScriptedClient, *steps: Any) -> Any:
    """A turn of version 1 with a client that has files and terminals."""
    async with link_in(script_agent(*steps), script, version=1) as client:
        return await (await client.new_session("/project")).prompt("go")


@pytest.mark.feature("the client's files", "agent", "client", versions=(1,))
@pytest.mark.req("V1-FS-03", "V1-FS-04", "V1-FS-06", "V1-FS-07", "V1-PROMPT-14")
async def test_files_are_read_and_written_through_the_client() -> None:
    script = ScriptedClient(files={"/project/notes.md": "one\ntwo\r\nthree\x0cstill three\nfour"})
    seen: list[str] = []

    async def edit(turn: Turn) -> None:
        seen.append(await turn.files.read("notes.md"))
        seen.append(await turn.files.read("/project/notes.md", line=2, limit=2))
        seen.append(await turn.files.read("notes.md", line=9))
        seen.append(await turn.files.read("notes.md", limit=0))
        await turn.files.write("new/file.txt", "line\r\nend")

    await play(script, edit)

    assert seen == [script.files["/project/notes.md"], "two\r\nthree\x0cstill three\n", "", ""]
    assert script.files["/project/new/file.txt"] == "line\r\nend"


@pytest.mark.req("V1-FS-08")
async def test_a_missing_file_is_not_found() -> None:
    errors: list[NotFound] = []

    async def read(turn: Turn) -> None:
        try:
            await turn.files.read("absent.md")
        except NotFound as error:
            errors.append(error)

    await play(ScriptedClient(), read)

    assert errors[0].code == -32002
    assert "/project/absent.md" in str(errors[0])


@pytest.mark.req("V1-FS-01", "V1-FS-02", "V1-TERM-01", "V1-INIT-13", "V2-TERM-13")
async def test_what_was_not_offered_is_not_asked_for_but_done_by_the_agent_itself(link: Link, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    found: list[Any] = []

    async def work(turn: Turn) -> None:
        found.append(await turn.files.read("notes.md", line=2))
        await turn.files.write("new/file.txt", "written")
        found.append(await turn.terminals.run("sh", ["-c", "pwd; exit 3"]))

    async with link(script_agent(work)) as client:
        sent: list[bytes] = []
        client.connection.watch(lambda direction, lines: sent.append(lines) if direction == "in" else None)
        await (await client.new_session(str(tmp_path))).prompt("go")

    assert found == ["two\n", Output(text=f"{tmp_path}\n", exit=ExitStatus(code=3))]
    assert (tmp_path / "new" / "file.txt").read_text() == "written"
    assert not any(b"fs/" in line or b"terminal/" in line for line in sent)


@pytest.mark.req("V1-SETUP-11", "V2-SETUP-06", "V1-SETUP-22")
async def test_the_agents_own_files_and_commands_stay_in_the_sessions_directories(link: Link, tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    (tmp_path / "secret").write_text("s")
    (inside / "way-out").symlink_to(tmp_path)
    refused: list[str] = []

    async def work(turn: Turn) -> None:
        for attempt in (
            lambda: turn.files.read("../secret"),
            lambda: turn.files.read("way-out/secret"),
            lambda: turn.files.write("way-out/new", "x"),
            lambda: turn.terminals.run("true", cwd=".."),
            lambda: turn.terminals.run("true", cwd="way-out"),
        ):
            with pytest.raises(RequestFailed) as caught:
                await attempt()
            refused.append(str(caught.value))

    async with link(script_agent(work)) as client:
        await (await client.new_session(str(inside))).prompt("go")

    assert len(refused) == 5
    assert not (tmp_path / "new").exists()


async def test_what_a_command_of_the_agents_own_prints_is_shown(link: Link, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        async with (
            turn.tool("Print", kind="execute") as tool,
            await turn.terminals.create("sh", ["-c", "echo shown"]) as terminal,
        ):
            await tool.show(terminal)
            await terminal.wait()

    async with link(script_agent(work)) as client:
        session = await client.new_session(str(tmp_path))
        await session.prompt("go")
        call = next(iter(session.transcript.tool_calls.values()))
        terminals = [terminal.text for terminal in session.transcript.terminals.values()]
        texts = [item.text for item in call.content if isinstance(item, TextContent)]

    assert "shown\n" in [*terminals, *texts]


async def test_a_command_that_is_left_running_ends_with_its_session(link: Link, tmp_path: Path) -> None:
    pids: list[int] = []

    async def work(turn: Turn) -> None:
        terminal = await turn.terminals.create("sh", ["-c", "echo $$; exec sleep 1000"])
        while not (printed := (await terminal.output()).text):  # noqa: ASYNC110  # the process has no event to wait for
            await asyncio.sleep(0)
        pids.append(int(printed))

    async with link(script_agent(work)) as client:
        session = await client.new_session(str(tmp_path))
        await session.prompt("go")
        os.kill(pids[0], 0)
        await session.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)


@pytest.mark.feature("the client's terminals", "agent", "client", versions=(1,))
@pytest.mark.req("V1-TERM-02", "V1-TERM-03", "V1-TERM-05", "V1-TERM-06", "V1-TERM-09", "V1-TERM-13")
async def test_a_command_runs_until_it_exits_and_its_terminal_is_released() -> None:
    script = ScriptedClient(commands={"make test": ("all fine\n", 0), "false": ("", 1)})
    outputs: list[Output] = []

    async def run(turn: Turn) -> None:
        outputs.append(await turn.terminals.run("make", ["test"], env={"CI": "1"}))
        outputs.append(await turn.terminals.run("false", cwd="sub"))

    await play(script, run)

    assert outputs == [
        Output(text="all fine\n", exit=ExitStatus(code=0)),
        Output(text="", exit=ExitStatus(code=1)),
    ]
    assert [(c.command, c.args, c.env, c.cwd) for c in script.started] == [
        ("make", ["test"], {"CI": "1"}, "/project"),
        ("false", [], {}, "/project/sub"),
    ]
    assert script.released == ["terminal-1", "terminal-2"]


@pytest.mark.req("V1-TERM-10", "V1-TERM-11", "V1-TERM-12", "V1-TERM-14", "V1-TERM-17", "V1-TOOL-19", "V1-TOOL-20")
async def test_a_terminal_can_be_watched_killed_and_released() -> None:
    script = ScriptedClient(commands={"server": ("listening\n", None)})
    seen: list[Any] = []

    async def serve(turn: Turn) -> None:
        async with turn.tool("Serve") as tool:
            async with await turn.terminals.create("server") as terminal:
                await tool.show(terminal)
                waiting = asyncio.ensure_future(terminal.wait())
                seen.append(await terminal.output())
                await terminal.kill()
                seen.append(await waiting)
                seen.append(await terminal.output())
            await terminal.release()
            with pytest.raises(NotFound):
                await terminal.output()

    turn = await play(script, serve)

    assert [output.exit for output in (seen[0], seen[2])] == [None, ExitStatus(signal="SIGTERM")]
    assert seen[1] == ExitStatus(signal="SIGTERM")
    assert script.released == ["terminal-1"]
    (call,) = turn.tool_calls
    assert call.content[0].terminal_id == "terminal-1"


@pytest.mark.req("V1-TERM-07", "V1-TERM-08", "V1-TERM-04")
async def test_too_much_output_loses_its_beginning() -> None:
    script = ScriptedClient(commands={"cat": ("abcäöü", 0)})
    outputs: list[Output] = []

    async def run(turn: Turn) -> None:
        outputs.append(await turn.terminals.run("cat", output_limit=5))

    await play(script, run)

    assert (outputs[0].text, outputs[0].truncated) == ("öü", True)


@pytest.mark.req("V1-TERM-13")
async def test_a_terminal_made_for_a_cancelled_turn_is_released_as_soon_as_it_is_known() -> None:
    async def run(turn: Turn) -> None:
        await turn.terminals.run("sleep")

    async with wire_client(script_agent(run)) as peer:
        session = await begin_session(peer, 1, {"terminal": True})
        id = await ask(peer, session, "go")
        create = await peer.next_call("terminal/create")
        await peer.tell("session/cancel", {"sessionId": session})
        assert (await peer.answer_to(id))["result"]["stopReason"] == "cancelled"
        await peer.reply(create, {"terminalId": "late"})
        release = await peer.next_call("terminal/release")
        await peer.reply(release, {})
        await peer.quiet()

    assert release["params"] == {"sessionId": session, "terminalId": "late"}


@pytest.mark.req("V1-FS-03", "V1-FS-06", "V1-TERM-03", "V1-TERM-04", "V1-TERM-16")
async def test_on_the_wire_paths_are_absolute_and_what_is_not_needed_is_left_out() -> None:
    async def use(turn: Turn) -> None:
        await turn.files.read("a.txt")
        await turn.files.write("b.txt", "text")
        await turn.terminals.create("ls")

    async with wire_client(script_agent(use)) as peer:
        session = await begin_session(peer, 1, {"terminal": True, "fs": {"readTextFile": True, "writeTextFile": True}})
        await ask(peer, session, "go")
        read = await peer.next_call("fs/read_text_file")
        await peer.reply(read, {"content": ""})
        write = await peer.next_call("fs/write_text_file")
        await peer.reply(write, None)
        create = await peer.next_call("terminal/create")
        await peer.reply(create, {"terminalId": "t"})

    assert read["params"] == {"sessionId": session, "path": "/project/a.txt"}
    assert write["params"] == {"sessionId": session, "path": "/project/b.txt", "content": "text"}
    assert create["params"] == {"sessionId": session, "command": "ls", "args": [], "env": [], "cwd": "/project"}


@pytest.mark.req("V1-TERM-13", "V1-TERM-18")
async def test_terminals_that_an_agent_forgot_are_released_with_their_session() -> None:
    script = ScriptedClient(commands={"server": ("", None)})

    async def forget(turn: Turn) -> None:
        await turn.terminals.create("server")

    async with link_in(script_agent(forget, forget, forget), script, version=1) as client:
        one = await client.new_session()
        await one.prompt("go")
        await one.close()
        await until(lambda: len(script.released) == 3)
        two = await client.new_session()
        await two.prompt("echo")

    assert sorted(script.released) == ["terminal-1", "terminal-2", "terminal-3"]


async def test_the_error_of_a_client_that_fails_to_do_what_it_offered_is_raised() -> None:
    errors: list[RequestFailed] = []

    class Broken(ScriptedClient):
        async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
            raise PermissionError("not yours")

    async def read(turn: Turn) -> None:
        try:
            await turn.files.read("a")
        except RequestFailed as error:
            errors.append(error)

    await play(Broken(), read)

    assert errors[0].code == -32603
    assert "PermissionError: not yours" in str(errors[0])


@pytest.mark.parametrize("answer", [[], {}, {"content": None}, "none"])
async def test_an_answer_that_cannot_be_read_means_that_a_missing_file_is_missing(answer: Any, tmp_path: Path) -> None:
    (tmp_path / "there.txt").write_text("text")
    errors: list[Exception] = []

    async def use(turn: Turn) -> None:
        for name in ("absent.txt", "there.txt"):
            try:
                await turn.files.read(str(tmp_path / name))
            except AccordError as error:
                errors.append(error)

    async with wire_client(script_agent(use)) as peer:
        session = await begin_session(peer, 1, {"fs": {"readTextFile": True}})
        await ask(peer, session, "go")
        for _ in range(2):
            await peer.reply(await peer.next_call("fs/read_text_file"), answer)
        await until(lambda: len(errors) == 2)

    assert isinstance(errors[0], NotFound)
    assert isinstance(errors[1], RemoteProtocolError)


@pytest.mark.parametrize("stage", ["creating", "running"])
async def test_a_cancelled_command_is_killed_before_its_terminal_is_released(stage: str) -> None:
    async with wire_client(script_agent(run_a_command)) as peer:
        session = await begin_session(peer, 1, {"terminal": True})
        await ask(peer, session, "go")
        create = await peer.next_call("terminal/create")
        if stage == "running":
            await peer.reply(create, {"terminalId": "t"})
            await peer.next_call("terminal/wait_for_exit")
        await peer.tell("session/cancel", {"sessionId": session})
        if stage == "creating":
            await peer.reply(create, {"terminalId": "t"})
        await peer.next_call("terminal/release")

    methods = [message["method"] for message in peer.received if message.get("method", "").startswith("terminal/")]
    assert methods[-2:] == ["terminal/kill", "terminal/release"]


async def run_a_command(turn: Turn) -> None:
    await turn.terminals.run("make")


async def kill_a_command(turn: Turn) -> None:
    async with await turn.terminals.create("make") as terminal:
        await terminal.kill()


STUCK: dict[str, tuple[Any, list[str]]] = {
    "read": (lambda turn: turn.files.read("a.txt"), ["fs/read_text_file"]),
    "write": (lambda turn: turn.files.write("a.txt", "x"), ["fs/write_text_file"]),
    "create": (lambda turn: turn.terminals.create("make"), ["terminal/create"]),
    "run": (run_a_command, ["terminal/create", "terminal/wait_for_exit"]),
    "kill": (kill_a_command, ["terminal/create", "terminal/kill"]),
}


@pytest.mark.req("V1-CANCEL-05")
@pytest.mark.parametrize("how", STUCK)
async def test_cancelling_frees_a_turn_at_once_from_a_client_that_never_answers(how: str) -> None:
    step, calls = STUCK[how]

    async def work(turn: Turn) -> None:
        async with turn.tool("Work"):
            await step(turn)

    async with wire_client(script_agent(work)) as peer:
        offers = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        session = await begin_session(peer, 1, offers)
        prompt = await ask(peer, session, "go")
        for method in calls:
            call = await peer.next_call(method)
            if method == "terminal/create" and len(calls) > 1:
                await peer.reply(call, {"terminalId": "t"})
        await peer.tell("session/cancel", {"sessionId": session})
        answer = await peer.answer_to(prompt)
        methods = [message.get("method") for message in peer.received]
        last = [update.get("status") for update in peer.updates if "toolCallId" in update][-1]
        after = await peer.answer_to(await ask(peer, session, "still there?"))

    assert answer["result"] == {"stopReason": "cancelled"}
    assert last == "failed"
    assert after["result"]["stopReason"] == "end_turn"
    if how != "create":  # a terminal that may have been made is not given up, but released when it comes
        assert "$/cancel_request" in methods
    if len(calls) > 1:  # and one that was made is released, before the turn ends
        assert "terminal/release" in methods


async def test_a_terminal_that_comes_after_its_turn_was_cancelled_is_released() -> None:
    async def work(turn: Turn) -> None:
        await turn.terminals.create("make")

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, 1, {"terminal": True})
        prompt = await ask(peer, session, "go")
        call = await peer.next_call("terminal/create")
        await peer.tell("session/cancel", {"sessionId": session})
        await peer.answer_to(prompt)
        await peer.reply(call, {"terminalId": "late"})
        released = await peer.next_call("terminal/release")

    assert released["params"]["terminalId"] == "late"


async def test_cancelling_ends_a_command_of_the_agents_own(link: Link, tmp_path: Path) -> None:
    async def work(turn: Turn) -> None:
        await turn.terminals.run("sh", ["-c", "echo $$ > pid; sleep 600"])

    async with link(script_agent(work)) as client:
        session = await client.new_session(str(tmp_path))
        running = session.prompt("go")
        await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        await session.cancel()
        done = await running
        alive = is_alive(int((tmp_path / "pid").read_text()))

    assert done.stop_reason == "cancelled"
    assert not alive


async def test_what_a_command_of_the_agents_own_prints_is_seen_while_it_runs(link: Link, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    async def step(turn: Turn) -> None:
        async with turn.tool("Run it", kind="execute") as tool:
            line = f"seq 3000; echo so far …; read go < {gate}; echo done"
            async with await turn.terminals.create("sh", ["-c", line]) as terminal:
                await tool.show(terminal)
                await terminal.wait()

    async with link(script_agent(step), workspace=None) as client:
        session = await client.new_session(cwd=str(tmp_path))
        opened = False
        async for _ in session.prompt("go"):
            shown = "".join(list_contents(session.transcript))
            if "so far …" in shown and not opened:
                opened = True
                assert "done" not in shown
                await asyncio.to_thread(gate.write_text, "now\n")
        shown = "".join(list_contents(session.transcript))
        assert opened and shown.endswith("so far …\ndone\n") and shown.startswith("1\n2\n")


def list_contents(transcript: Any) -> Iterator[str]:
    """Return the contents of the tool calls: terminals and text."""
    for call in transcript.tool_calls.values():
        for item in call.content:
            if isinstance(item, TextContent):
                yield item.text
            elif isinstance(item, TerminalRef) and item.terminal_id in transcript.terminals:
                yield transcript.terminals[item.terminal_id].text

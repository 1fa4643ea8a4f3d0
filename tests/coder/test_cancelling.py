"""A cancel may come at any instant: the turn ends as cancelled, nothing is left running, and the session goes on."""

from __future__ import annotations

import asyncio
import os
import sys
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import pytest
from coder.scripted import Kit, ScriptedModel, coder
from coder.test_loop import Change, Look, call
from coder.whole import faults

from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.client.workspace import TerminalCommand, TerminalState
from accord.coder.coder import Coder
from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.errors import RequestFailed
from accord.model.requests import McpServer
from accord.model.tool import ExitStatus
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient, link

Join = Callable[..., Any]


class Pause(Awaitable[None]):
    """A client that is slow: whoever says something waits for a moment."""

    def __await__(self) -> Generator[Any, None, None]:
        yield


@types.coroutine
def stepped(work: Coroutine[Any, Any, Any], step: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Does the work, and calls `step` whenever it is about to wait."""
    error: BaseException | None = None
    while True:
        try:
            waits_for = work.send(None) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value
        step()
        error = None
        try:
            yield waits_for
        except BaseException as raised:
            error = raised


class Interrupted(Coder):
    """Cancels its first turn by itself, at one of the instants at which it waits."""

    at = 0
    steps = 0
    opened: Session

    async def session_opened(self, session: Session, how: Any) -> None:
        self.opened = session
        await super().session_opened(session, how)

    async def prompt(self, turn: Turn) -> Any:
        if turn.text != "go":
            return await super().prompt(turn)

        def step() -> None:
            self.steps += 1
            if self.steps == self.at:
                turn.session.turns.cancel()

        return await stepped(super().prompt(turn), step)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every update takes a moment to leave, so that there is an instant after each."""
    send = Session.send

    def sent(self: Session, lines: bytes) -> Awaitable[None]:
        send(self, lines)
        return Pause()

    monkeypatch.setattr(Session, "send", sent)


def scripted() -> ScriptedModel:
    """Thinks, speaks, calls what looks and what changes, has trouble, is shortened, and ends."""
    model = ScriptedModel(
        [ThoughtPiece(text="Hm."), "Let me ", "see.", call(id="1"), call(id="2", path="b"), call("change", id="3")],
        ["\n", ModelError("busy", retry=True)],
        ["And ", call("change", id="4"), call(id="5", path="bad"), call("nothing", id="6")],
        [ModelError("too long", kind="context")],
        ["A summary."],
        ["Done."],
    )
    model.spent = Spent(input=10, output=5, cost=0.5)
    return model


async def interrupted(join: Join, at: int, model: ScriptedModel, tools: Any, client: Any) -> tuple[Interrupted, str]:
    """One session whose first turn is cancelled at its `at`-th wait, and which then goes on."""
    store = MemoryStore()
    agent = Interrupted(store=store, equipment=Kit(model, tools))
    agent.at = at
    async with asyncio.timeout(20), join(agent, client) as connected:
        session = await connected.new_session()
        before = asyncio.all_tasks()
        turn = await session.prompt("go")
        where = f"cancelled at wait {at} of version {join.version}"
        desk = agent.desk(agent.opened)
        assert faults(desk.history) == [], where
        assert agent.opened.open_tools == {}, where
        if turn.stop_reason == "cancelled":
            left = {task for task in asyncio.all_tasks() - before if task.get_name() != "accord handler"}
            if left:
                _, left = await asyncio.wait(left, timeout=5)
            assert not left, where
            assert {each.status for each in turn.tool_calls} <= {"cancelled", "failed", "completed"}, where
        model.answers.clear()
        again = await session.prompt("and now?")
        assert (again.stop_reason, again.text) == ("end_turn", "done"), where
        assert faults(desk.history) == [] and faults(model.requests[-1].messages) == [], where
        live, id = list(desk.history), session.id
    restored = Interrupted(store=store, equipment=Kit(ScriptedModel(), tools))
    async with join(restored, client) as connected:
        await connected.load_session(id)
        assert restored.desk(restored.opened).history == live, where
    return agent, turn.stop_reason


async def test_wherever_a_turn_waits_it_can_be_cancelled(joined: Join, slow: None) -> None:
    for at in range(1, 1000):
        client = ScriptedClient(permissions=[True])
        agent, reason = await interrupted(joined, at, scripted(), [Look(), Change()], client)
        if agent.steps < at:
            assert reason == "end_turn"
            break
        assert reason == "cancelled", f"at wait {at}"
    assert at > 30


async def test_wherever_the_real_tools_wait_they_can_be_cancelled(joined: Join, project: Path) -> None:
    script = [
        [call("read_file", id="1", path="a.txt"), call("list_files", id="2"), call("search", id="3", pattern="one")],
        [call("edit_file", id="4", path="a.txt", edits=[{"old": "one", "new": "two"}])],
        [call("run_command", id="5", command="echo hello"), call("set_plan", id="6", steps=[{"content": "rest"}])],
        [call("delete_file", id="7", path="a.txt"), call("show_changes", id="8")],
    ]
    for at in range(1, 1000):
        (project / "a.txt").write_text("one\n")
        client = ScriptedClient()
        agent, reason = await interrupted(joined, at, ScriptedModel(*script), None, Permitting(client))
        if agent.steps < at:
            break
        assert reason == "cancelled", f"at wait {at}"
    assert at > 15


class Permitting:
    """A client that answers questions and offers nothing."""

    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    def options(self) -> dict[str, Any]:
        return {"permissions": self._client.permit}


# -- what never answers


class Mute(ScriptedClient):
    """Hears one kind of request and never answers it."""

    def __init__(self, deaf_to: str) -> None:
        super().__init__(files={}, commands={}, replies=[{"answer": "yes"}])
        self.deaf_to = deaf_to
        self.asked_for = asyncio.Event()

    async def _hear(self, what: str) -> None:
        if what == self.deaf_to:
            self.asked_for.set()
            await asyncio.Event().wait()

    async def permit_slowly(self, request: Any) -> Any:
        await self._hear("permission")
        return True

    async def elicit_slowly(self, question: Any) -> Any:
        await self._hear("form")
        return {"answer": "yes"}

    def options(self) -> dict[str, Any]:
        return {**super().options(), "permissions": self.permit_slowly, "elicitation": self.elicit_slowly}

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        await self._hear("read")
        return Path(path).read_text()  # noqa: ASYNC240

    async def write(self, session_id: str, path: str, text: str) -> None:
        await self._hear("write")

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        await self._hear("create")
        return await super().create_terminal(session_id, command)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        await self._hear("wait")
        return await super().wait_for_exit(session_id, terminal_id)

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        await self._hear("output")
        return await super().terminal_output(session_id, terminal_id)

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._hear("release")
        await super().release_terminal(session_id, terminal_id)


EDIT = call("edit_file", path="a.txt", edits=[{"old": "one", "new": "two"}])
RUN = call("run_command", command="true")
ASK = call("ask_user", question="Really?")


@pytest.mark.parametrize(
    ("deaf_to", "does"),
    [
        ("permission", EDIT),
        ("read", EDIT),
        ("write", EDIT),
        ("create", RUN),
        ("wait", RUN),
        ("output", RUN),
        ("release", RUN),
        ("form", ASK),
    ],
)
async def test_a_client_that_never_answers_does_not_hold_up_a_cancel(project: Path, deaf_to: str, does: Any) -> None:
    (project / "a.txt").write_text("one\n")
    mute = Mute(deaf_to)
    model = ScriptedModel([does], ["Here."])
    agent = Coder(equipment=Kit(model, None))
    async with asyncio.timeout(20), link(agent, mute, cwd=str(project)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(mute.asked_for.wait(), 5)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 5)).stop_reason == "cancelled"
        assert (await session.prompt("and now?")).text == "Here."
    assert faults(model.requests[-1].messages) == []


async def soon(is_so: Callable[[], Any]) -> None:
    """Returns when something is so."""
    for _ in range(2000):
        if is_so():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError("it never was so")


class Slow(Kit):
    """Takes for ever to have a model."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(model)
        self.loading = asyncio.Event()
        self.go_on = asyncio.Event()

    async def model(self, cwd: str, id: str) -> Any:
        self.loading.set()
        await self.go_on.wait()
        return self.scripted


async def test_a_model_that_is_being_loaded_does_not_hold_up_a_cancel(joined: Join) -> None:
    kit = Slow(ScriptedModel(["Here."]))
    async with asyncio.timeout(20), joined(Coder(equipment=kit)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(kit.loading.wait(), 5)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 5)).stop_reason == "cancelled"
        kit.go_on.set()
        assert (await session.prompt("and now?")).text == "Here."


async def test_a_pause_before_the_next_attempt_can_be_cancelled(joined: Join) -> None:
    model = ScriptedModel([ModelError("busy", retry=True)], ["Here."])
    agent = Coder(equipment=Kit(model, pauses=(60.0,)))
    async with asyncio.timeout(20), joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await soon(lambda: model.closed_early)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 5)).stop_reason == "cancelled"
        assert (await session.prompt("and now?")).text == "Here."


async def test_servers_that_are_still_starting_do_not_hold_up_a_cancel(joined: Join, project: Path) -> None:
    started = project / "started"
    silent = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(60)"
    server = McpServer(name="silent", transport="stdio", command=sys.executable, args=["-c", silent])
    model = ScriptedModel(["Here."], ["Again."])
    async with asyncio.timeout(30), joined(Coder(equipment=Kit(model))) as client:
        session = await client.new_session(mcp_servers=[server])
        await soon(started.exists)
        turn = session.prompt("go")
        await soon(lambda: session.transcript.title)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 5)).stop_reason == "cancelled"
        assert (await asyncio.wait_for(session.prompt("and now?"), 15)).text == "Here."


async def test_a_command_that_runs_is_gone_when_its_turn_was_cancelled(joined: Join, project: Path) -> None:
    line = "echo $$ > pid; exec sleep 60"
    model = ScriptedModel([call("run_command", command=line)], ["Here."])
    client = Permitting(ScriptedClient())
    async with asyncio.timeout(30), joined(Coder(equipment=Kit(model, None)), client) as connected:
        session = await connected.new_session()
        turn = session.prompt("go")
        pid = project / "pid"
        await soon(lambda: pid.exists() and pid.read_text().strip())
        await session.cancel()
        done = await asyncio.wait_for(turn, 10)
        assert done.stop_reason == "cancelled"
        assert done.tool_calls[0].status in ("cancelled", "failed")
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)
        assert (await session.prompt("and now?")).text == "Here."


async def test_a_session_that_could_not_be_opened_leaves_nothing_running(joined: Join, project: Path) -> None:
    agent, _ = coder(["hi"])

    async def broken(desk: Any) -> None:
        raise RequestFailed("no commands today")

    agent._read_recipes = broken  # type: ignore[method-assign]
    server = McpServer(
        name="silent", transport="stdio", command=sys.executable, args=["-c", "import time; time.sleep(9)"]
    )
    async with joined(agent) as client:
        before = {task.get_name() for task in asyncio.all_tasks()}
        with pytest.raises(RequestFailed, match="no commands today"):
            await client.new_session(mcp_servers=[server])
        left = [task for task in asyncio.all_tasks() if task.get_name() not in before]
        assert [task for task in left if "Coder." in str(task.get_coro()) or "Server" in str(task.get_coro())] == []

"""Cancelling at any instant ends the turn as cancelled, leaves nothing running, and keeps the session usable."""

from __future__ import annotations

import asyncio
import os
import sys
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_loop import Change, Look, call

from accord import allow_all
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.update_writer import UpdateWriter
from accord.client.workspace import TerminalCommand, TerminalState
from accord.coder.agent import Coder
from accord.coder.custom_commands import CustomCommands
from accord.coder.history import UserSaid
from accord.coder.models.base import Model, ModelError, Spent, ThoughtPiece
from accord.errors import RequestFailed
from accord.model.requests import McpServer
from accord.model.tool import ExitStatus
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient, link

Join = Callable[..., Any]


class Pause(Awaitable[None]):
    """A slow client: every update waits for it."""

    def __await__(self) -> Generator[Any, None, None]:
        yield


@types.coroutine
def run_stepwise(work: Coroutine[Any, Any, Any], step: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Run a coroutine, and call `step` whenever it is about to wait."""
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
    """Cancels its first turn at one of the instants at which it waits."""

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

        return await run_stepwise(super().prompt(turn), step)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every update wait until it is sent, so that a turn can be cancelled after each."""
    for name in ("say", "send"):
        monkeypatch.setattr(UpdateWriter, name, pause_after(getattr(UpdateWriter, name)))


def pause_after(method: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Wrap a method that sends an update."""

    def send(self: UpdateWriter, *args: Any, **options: Any) -> Awaitable[None]:
        method(self, *args, **options)
        return Pause()

    return send


def make_model() -> ScriptedModel:
    """Return a model that thinks, speaks, reads, changes, fails, is compacted, and ends."""
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


async def run_interrupted(
    join: Join, at: int, model: ScriptedModel, tools: Any, client: ScriptedClient | None = None, **options: Any
) -> tuple[Interrupted, str]:
    """Run a session whose first turn is cancelled at its `at`-th wait, then continue it."""
    store = MemoryStore()
    agent = Interrupted(store=store, shared=ScriptedResources(model, tools))
    agent.at = at
    async with asyncio.timeout(300), join(agent, client, **options) as connected:
        session = await connected.new_session()
        before = asyncio.all_tasks()
        turn = await session.prompt("go")
        where = f"cancelled at wait {at} of version {join.version}"
        state = agent.state(agent.opened)
        assert faults(state.history) == [], where
        assert agent.opened.open_tools == {}, where
        if turn.stop_reason == "cancelled":
            left = {task for task in asyncio.all_tasks() - before if task.get_name() != "accord handler"}
            if left:
                _, left = await asyncio.wait(left, timeout=300)
            assert not left, where
            assert {each.status for each in turn.tool_calls} <= {"cancelled", "failed", "completed"}, where
        model.answers.clear()
        again = await session.prompt("and now?")
        assert (again.stop_reason, again.text) == ("end_turn", "done"), where
        assert faults(state.history) == [] and faults(model.requests[-1].messages) == [], where
        live, id = list(state.history), session.id
    restored = Interrupted(store=store, shared=ScriptedResources(ScriptedModel(), tools))
    async with join(restored, client, **options) as connected:
        await connected.load_session(id)
        assert list(restored.state(restored.opened).history) == live, where
    return agent, turn.stop_reason


async def test_a_turn_can_be_cancelled_wherever_it_waits(joined: Join, slow: None) -> None:
    for at in range(1, 1000):
        client = ScriptedClient(permissions=[True])
        agent, reason = await run_interrupted(joined, at, make_model(), [Look(), Change()], client)
        if agent.steps < at:
            assert reason == "end_turn"
            break
        assert reason == "cancelled", f"at wait {at}"
    assert at > 30


class WaitingResources(ScriptedResources):
    """A provider that isn't reachable at first."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(model)
        self.is_asked, self.is_there = asyncio.Event(), asyncio.Event()

    async def model(self, cwd: str, id: str) -> Model:
        self.is_asked.set()
        await self.is_there.wait()
        return self.scripted


async def test_a_prompt_that_is_cancelled_before_the_model_is_ready_is_remembered(
    joined: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.coder.model_choice.PRELOAD_DELAY_SECONDS", 3600.0)  # so that the prompt asks for it
    model = ScriptedModel(["As you said."])
    shared = WaitingResources(model)
    async with joined(Coder(shared=shared)) as client:
        session = await client.new_session()
        turn = session.prompt("Rename add to plus.")
        await shared.is_asked.wait()
        await turn.cancel()
        assert (await turn).stop_reason == "cancelled"
        shared.is_there.set()
        await session.prompt("Do it after all.")
    said = [message.content[0].text for message in model.requests[0].messages if isinstance(message, UserSaid)]
    assert said == ["Rename add to plus.", "Do it after all."]


async def test_the_real_tools_can_be_cancelled_wherever_they_wait(joined: Join, project: Path) -> None:
    script = [
        [
            call("read_file", id="1", file_path="a.txt"),
            call("list_files", id="2"),
            call("search", id="3", pattern="one"),
        ],
        [call("edit_file", id="4", file_path="a.txt", edits=[{"old_string": "one", "new_string": "two"}])],
        [call("run_command", id="5", command="echo hello"), call("set_plan", id="6", steps=[{"content": "rest"}])],
        [call("delete_file", id="7", file_path="a.txt"), call("show_changes", id="8")],
    ]
    for at in range(1, 1000):
        (project / "a.txt").write_text("one\n")
        # No scripted client: it would serve scripted files and commands in place of the real ones.
        agent, reason = await run_interrupted(joined, at, ScriptedModel(*script), None, permissions=allow_all)
        if agent.steps < at:
            break
        assert reason == "cancelled", f"at wait {at}"
    assert at > 15


# -- clients that never answer


class Mute(ScriptedClient):
    """Never answers one kind of request."""

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


EDIT = call("edit_file", file_path="a.txt", edits=[{"old_string": "one", "new_string": "two"}])
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
    agent = Coder(shared=ScriptedResources(model, None))
    async with asyncio.timeout(300), link(agent, mute, cwd=str(project)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(mute.asked_for.wait(), 300)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 300)).stop_reason == "cancelled"
        assert (await session.prompt("and now?")).text == "Here."
    assert faults(model.requests[-1].messages) == []


async def wait_until(is_so: Callable[[], Any]) -> None:
    """Wait until a condition is true. Processes that make it true take as long as the machine lets them."""
    while not is_so():  # noqa: ASYNC110  # what another process does has no event to wait for
        await asyncio.sleep(0.005)


class Slow(ScriptedResources):
    """Shared resources whose model takes forever to load."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(model)
        self.loading = asyncio.Event()
        self.check_wanted = asyncio.Event()

    async def model(self, cwd: str, id: str) -> Any:
        self.loading.set()
        await self.check_wanted.wait()
        return self.scripted


async def test_a_model_that_is_being_loaded_does_not_hold_up_a_cancel(joined: Join) -> None:
    kit = Slow(ScriptedModel(["Here."]))
    async with asyncio.timeout(300), joined(Coder(shared=kit)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(kit.loading.wait(), 300)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 300)).stop_reason == "cancelled"
        kit.check_wanted.set()
        assert (await session.prompt("and now?")).text == "Here."


async def test_a_pause_before_the_next_attempt_can_be_cancelled(joined: Join) -> None:
    model = ScriptedModel([ModelError("busy", retry=True)], ["Here."])
    agent = Coder(shared=ScriptedResources(model, pauses=(60.0,)))
    async with asyncio.timeout(300), joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await wait_until(lambda: model.closed_early)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 300)).stop_reason == "cancelled"
        assert (await session.prompt("and now?")).text == "Here."


async def test_servers_that_are_still_starting_do_not_hold_up_a_cancel(joined: Join, project: Path) -> None:
    started = project / "started"
    silent = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(60)"
    server = McpServer(name="silent", transport="stdio", command=sys.executable, args=["-c", silent])
    model = ScriptedModel(["Here."], ["Again."])
    async with asyncio.timeout(300), joined(Coder(shared=ScriptedResources(model))) as client:
        session = await client.new_session(mcp_servers=[server])
        await wait_until(started.exists)
        turn = session.prompt("go")
        await wait_until(lambda: session.transcript.title)
        await session.cancel()
        assert (await asyncio.wait_for(turn, 300)).stop_reason == "cancelled"
        assert (await asyncio.wait_for(session.prompt("and now?"), 300)).text == "Here."


async def test_a_command_that_runs_is_gone_when_its_turn_was_cancelled(joined: Join, project: Path) -> None:
    line = "echo $$ > pid; exec sleep 60"
    model = ScriptedModel([call("run_command", command=line)], ["Here."])
    agent, permit = Coder(shared=ScriptedResources(model, None)), ScriptedClient().permit
    async with asyncio.timeout(300), joined(agent, permissions=permit) as connected:
        session = await connected.new_session()
        turn = session.prompt("go")
        pid = project / "pid"
        await wait_until(lambda: pid.exists() and pid.read_text().strip())
        await session.cancel()
        done = await asyncio.wait_for(turn, 300)
        assert done.stop_reason == "cancelled"
        assert done.tool_calls[0].status in ("cancelled", "failed")
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)
        assert (await session.prompt("and now?")).text == "Here."


async def test_a_session_that_could_not_be_opened_leaves_nothing_running(
    joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, _ = coder(["hi"])

    async def fail_to_reload(self: CustomCommands) -> None:
        raise RequestFailed("no commands today")

    monkeypatch.setattr(CustomCommands, "reload", fail_to_reload)
    server = McpServer(
        name="silent", transport="stdio", command=sys.executable, args=["-c", "import time; time.sleep(9)"]
    )
    async with joined(agent) as client:
        before = {task.get_name() for task in asyncio.all_tasks()}
        with pytest.raises(RequestFailed, match="no commands today"):
            await client.new_session(mcp_servers=[server])
        left = [task for task in asyncio.all_tasks() if task.get_name() not in before]
        background = ("CustomCommands.", "ModelChoice.", "Server")
        assert [task for task in left if any(name in str(task.get_coro()) for name in background)] == []

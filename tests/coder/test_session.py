"""Sessions continue in another process, after a kill, from a fork, and when opened twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel, ScriptedResources
from coder.test_loop import Change, Look, call

from accord.agent.session import Session
from accord.coder.agent import Coder
from accord.coder.history import Call, Message, ModelSaid, Result, Summary, Text, ToolsSaid, UserSaid, repair
from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.coder.session import CoderSession
from accord.coder.tools.plan import SetPlan
from accord.errors import RequestFailed
from accord.model.content import Image, Resource, ResourceContents, ResourceLink, TextContent
from accord.model.requests import McpServer
from accord.model.statement import PrivateData
from accord.store.base import SessionStore
from accord.store.memory import MemoryStore
from accord.store.sqlite import SqliteStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class ObservableCoder(Coder):
    """Exposes the state of its sessions to a test."""

    def __init__(self, model: ScriptedModel, store: SessionStore, *tools: Any) -> None:
        super().__init__(store=store, shared=ScriptedResources(model, tools or TOOLS))
        self.opened: dict[str, Session] = {}

    async def session_opened(self, session: Session, how: Any) -> None:
        self.opened[session.id] = session
        await super().session_opened(session, how)

    def state_of(self, id: str) -> CoderSession:
        return self.state(self.opened[id])


TOOLS = (Look(), Change(), SetPlan())


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "sessions.sqlite")


def state(state: CoderSession) -> dict[str, Any]:
    """Return the state that must be restored."""
    session = state.session
    return {
        "history": list(state.history),
        "plan": state.plan,
        "used": state.usage.context,
        "cost": state.usage.cost,
        "title": session.title,
        "options": {option.id: option.value for option in session.options},
    }


def answer(dice: random.Random, number: int) -> list[Any]:
    """Return an answer with random steps of every kind."""
    steps: list[Any] = [
        "Let me see. ",
        "\n",
        "",
        "é🙂",
        ThoughtPiece(text="Hm."),
        call(id=f"{number}a"),
        call("change", id=f"{number}b", path="b.txt"),
        call("set_plan", id=f"{number}c", steps=[{"content": f"step {number}"}]),
        call("nothing", id=f"{number}d"),
        call(id=f"{number}e", path="bad"),
        ModelError("busy", retry=True),
        "<length>",
        "<refusal>",
    ]
    return dice.sample(steps, dice.randint(1, 5))


async def test_a_restored_session_has_the_state_of_the_live_one(joined: Join, store: SessionStore) -> None:
    dice = random.Random(4)
    for _ in range(8):
        model = ScriptedModel(*[answer(dice, number) for number in range(30)], efforts=("low", "high"))
        model.spent = Spent(input=10, output=5, cost=0.01)
        agent = ObservableCoder(model, store)
        async with joined(agent, ScriptedClient(permissions=["reject_once", True, True])) as client:
            session = await client.new_session()
            await session.set_mode(dice.choice(["ask", "code", "architect"]))
            await session.set_option("effort", "high")
            for number in range(4):
                with contextlib.suppress(RequestFailed):
                    await session.prompt(dice.choice(["go", "/compact", "do it", "/usage", "  "]) + f" {number}")
            live = state(agent.state_of(session.id))
        assert faults(live["history"]) == []
        again = ObservableCoder(ScriptedModel(efforts=("low", "high")), store)
        async with joined(again) as client:
            await (client.load_session if dice.random() < 0.5 else client.resume_session)(session.id)
            assert state(again.state_of(session.id)) == live
    await store.close()


async def test_every_kind_of_content_comes_back(joined: Join, store: SessionStore) -> None:
    content = [
        TextContent("look"),
        Image(data="aGk=", mime_type="image/png"),
        ResourceLink(uri="file:///a.txt", name="a.txt"),
        Resource(resource=ResourceContents(uri="file:///b.txt", text="hello")),
        Resource(resource=ResourceContents(uri="file:///c.bin", blob="aGk=", mime_type="image/png")),
    ]
    agent = ObservableCoder(ScriptedModel(["Seen."]), store)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt(content)
        live = list(agent.state_of(session.id).history)
    assert live[0] == UserSaid(content=content)
    again = ObservableCoder(ScriptedModel(), store)
    async with joined(again) as client:
        await client.load_session(session.id)
        assert list(again.state_of(session.id).history) == live
    await store.close()


class Torn(MemoryStore):
    """A store that keeps a copy after each statement, as a process killed there would leave it."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[MemoryStore] = []

    def append(self, session_id: str, statement: Any) -> None:
        super().append(session_id, statement)
        copy = MemoryStore()
        copy._infos = dict(self._infos)
        copy._histories = {id: list(history) for id, history in self._histories.items()}
        self.left.append(copy)


async def test_after_a_kill_at_any_instant_the_session_can_be_continued(joined: Join) -> None:
    store = Torn()
    model = ScriptedModel(
        ["First ", call(id="1"), call(id="2"), call("change", id="3")],
        ["then ", call("change", id="4")],
        [ModelError("full", kind="context")],
        ["Short."],
        ["Done."],
    )
    async with joined(ObservableCoder(model, store), ScriptedClient()) as client:
        session = await client.new_session()
        await session.prompt("go")
    assert len(store.left) > 20
    for left in store.left:
        again = ScriptedModel(["Here."])
        agent = ObservableCoder(again, left)
        async with joined(agent) as client:
            loaded = await client.load_session(session.id)
            assert faults(agent.state_of(session.id).history) == []
            assert (await loaded.prompt("and now?")).text == "Here."
            assert faults(again.requests[0].messages) == []


async def test_a_fork_and_its_source_continue_independently(joined: Join, store: SessionStore) -> None:
    model = ScriptedModel(["Hi.", call()], ["Seen."], ["In the fork."], ["In the source."])
    model.spent = Spent(input=10, output=5, cost=0.5)
    agent = ObservableCoder(model, store)
    async with joined(agent, unstable=True) as client:
        source = await client.new_session()
        await source.prompt("hello")
        fork = await source.fork()
        assert list(agent.state_of(fork.id).history) == list(agent.state_of(source.id).history)
        assert agent.state_of(fork.id).usage.cost == 1.0
        await fork.prompt("one way")
        await source.prompt("another")
        live = {id: list(agent.state_of(id).history) for id in (source.id, fork.id)}
    assert "one way" not in str(live[source.id]) and "another" not in str(live[fork.id])
    again = ObservableCoder(ScriptedModel(), store)
    async with joined(again) as client:
        for id, history in live.items():
            await client.load_session(id)
            assert list(again.state_of(id).history) == history
    await store.close()


async def test_reopening_an_open_session_disturbs_neither_its_turn_nor_its_state(joined: Join, project: Path) -> None:
    look = Look()
    look.hold = asyncio.Event()
    model = ScriptedModel(["Before."], ["Looking.", call()], ["Seen."], ["After."])
    agent = ObservableCoder(model, MemoryStore(), look)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        turn = session.prompt("look")
        await asyncio.wait_for(look.begun.wait(), 300)
        state = agent.state_of(session.id)
        again = await client.load_session(session.id)
        assert agent.state_of(session.id) is state and len(state.history) == 4
        (project / "sub").mkdir()
        with pytest.raises(RequestFailed, match="can't change directories while a turn is running"):
            await client.load_session(session.id, cwd=str(project / "sub"))
        look.hold.set()
        assert (await turn).stop_reason == "end_turn"
        assert (await again.prompt("and?")).text == "After."
    assert faults(state.history) == []
    assert [type(message) for message in model.requests[-1].messages] == [
        UserSaid, ModelSaid, UserSaid, ModelSaid, ToolsSaid, ModelSaid, UserSaid
    ]  # fmt: skip


async def test_a_session_opened_from_another_directory_works_there_by_its_rules(joined: Join, project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "accord.toml").write_text('[permissions]\ndeny = ["write:*.lock"]\n')
    model = ScriptedModel(["Hi."], [call("change", path="a.lock")], ["No."])
    agent = ObservableCoder(model, MemoryStore())
    async with joined(agent, ScriptedClient()) as client:
        session = await client.new_session()
        await session.prompt("first")
        moved = await client.load_session(session.id, cwd=str(other))
        assert agent.state_of(session.id).files.roots.paths == [str(other)]
        turn = await moved.prompt("second")
    assert turn.tool_calls[-1].status == "failed"
    assert "deny write:*.lock" in model.requests[-1].messages[-1].results[0].text


async def test_two_processes_on_one_session_leave_a_history_that_providers_accept(joined: Join, tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    first, second = Look(), Look()
    first.hold, second.hold = asyncio.Event(), asyncio.Event()
    one = ObservableCoder(ScriptedModel([call(id="x1")], ["One."]), SqliteStore(path), first)
    two = ObservableCoder(ScriptedModel([call(id="y1")], ["Two."]), SqliteStore(path), second)
    async with joined(one) as here, joined(two) as there:
        session = await here.new_session()
        twin = await there.load_session(session.id)
        turns = [session.prompt("from here"), twin.prompt("from there")]
        await asyncio.wait_for(asyncio.gather(first.begun.wait(), second.begun.wait()), 300)
        second.hold.set()
        await turns[1]
        first.hold.set()
        await turns[0]
    model = ScriptedModel(["Both."])
    last = ObservableCoder(model, SqliteStore(path))
    async with joined(last) as client:
        loaded = await client.load_session(session.id)
        assert faults(last.state_of(session.id).history) == []
        assert (await loaded.prompt("and?")).text == "Both."
    said = str(model.requests[0].messages)
    assert all(words in said for words in ("from here", "from there", "One.", "Two.", "saw a.txt"))
    for agent in (one, two, last):
        await agent.kept.close()


U, D = UserSaid(content=[TextContent("u")]), ModelSaid(parts=[Text(text="d")])


def make_calls(*ids: str) -> ModelSaid:
    return ModelSaid(parts=[Call(id=id, name="look", arguments={}) for id in ids])


def make_results(*ids: str) -> ToolsSaid:
    return ToolsSaid(results=[Result(id=id, name="look", text=f"saw {id}") for id in ids])


@pytest.mark.parametrize(
    "messages",
    [
        [U, make_calls("1", "2")],
        [U, make_calls("1", "2"), make_results("1")],
        [U, make_calls("1"), U, make_results("1"), D],
        [U, make_calls("1"), make_calls("2"), make_results("2"), make_results("1"), D],
        [U, make_results("1"), D],
        [U, make_calls("1"), make_results("1"), D, U, make_calls("1"), make_results("1")],
        [U, make_calls("1"), make_results("1", "9")],
        [U, D, D, make_calls("1"), make_results("1"), D, D],
        [U, make_calls("1"), make_results("1"), make_results("1"), D],
        [Summary(text="s"), make_results("1"), U],
    ],
)
def test_any_saved_history_is_repaired_so_that_providers_accept_it(messages: list[Message]) -> None:
    assert faults(repair(messages)) == []
    assert repair(repair(messages)) == repair(messages)


async def test_a_missing_model_is_reported_and_another_can_be_chosen(joined: Join) -> None:
    store = MemoryStore()
    agent = ObservableCoder(ScriptedModel(["Hi."]), store)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hello")
    later = Coder(store=store)
    async with joined(later) as client:
        loaded = await client.load_session(session.id)
        assert loaded.option("model").value == "test:scripted"
        with pytest.raises(RequestFailed, match="there is no model 'test:scripted'") as raised:
            await loaded.prompt("and?")
        assert "ModelError" not in str(raised.value)
        await loaded.set_option("model", "offline")
        assert (await loaded.prompt("list the files")).stop_reason == "end_turn"


async def test_another_model_chosen_during_a_turn_takes_over_with_the_next(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    model = ScriptedModel([call()], ["One."], ["Two."])
    closed: list[str] = []

    async def close() -> None:
        closed.append("closed")

    model.close = close  # type: ignore[method-assign]
    agent = ObservableCoder(model, MemoryStore(), look)
    async with joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("look")
        await asyncio.wait_for(look.begun.wait(), 300)
        await session.set_option("model", "test:scripted")
        assert closed == [], "it is still asked"
        look.hold.set()
        assert (await turn).text == "One."
        assert (await session.prompt("again")).text == "Two."
    assert closed == ["closed", "closed"]


async def test_messages_of_another_version_are_skipped_and_the_rest_is_restored(joined: Join) -> None:
    store = MemoryStore()
    agent = ObservableCoder(ScriptedModel(["Hi."]), store)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hello")
    store.append(session.id, PrivateData(kind="model", data={"type": "Dreamt", "of": "sheep"}))
    again = ObservableCoder(ScriptedModel(["Yes."]), store)
    async with joined(again) as client:
        loaded = await client.load_session(session.id)
        assert (await loaded.prompt("still there?")).text == "Yes."
    assert "hello" in str(again.shared.scripted.requests[0].messages)


async def test_reopening_a_session_keeps_its_servers_unless_others_are_named(
    joined: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Fake:
        """Fake servers that record calls."""

        changed: Any = None

        def __init__(self, session: Session) -> None:
            self.names = ",".join(server.name for server in session.mcp_servers)

        def start(self) -> None:
            seen.append(f"start {self.names}")

        async def close(self) -> None:
            seen.append(f"close {self.names}")

        async def ready(self) -> None:
            pass

        def tools(self) -> dict[str, Any]:
            return {}

        def commands(self) -> list[Any]:
            return []

    monkeypatch.setattr("accord.coder.mcp.servers.Servers", Fake)
    one, two = (McpServer(name=name, transport="stdio", command="/bin/true") for name in ("one", "two"))
    agent = ObservableCoder(ScriptedModel(["Hi."]), MemoryStore())
    async with joined(agent) as client:
        session = await client.new_session(mcp_servers=[one])
        await client.load_session(session.id, mcp_servers=[one])
        assert seen == ["start one"]
        again = await client.load_session(session.id, mcp_servers=[one, two])
        assert seen == ["start one", "close one", "start one,two"]
        await client.load_session(session.id, mcp_servers=[])
        assert (await again.prompt("hello")).text == "Hi."
    assert seen == ["start one", "close one", "start one,two", "close one,two"]


async def test_a_session_is_listed_only_once_it_has_a_message(joined: Join) -> None:
    store = MemoryStore()

    async def list_ids() -> set[str]:
        return {info.id for info in (await store.list()).sessions}

    async with joined(Coder(store=store, shared=ScriptedResources(ScriptedModel(["Hello."]), ()))) as client:
        unused = await client.new_session()
        used = await client.new_session()
        await used.prompt("hi")
    assert await list_ids() == {used.id}
    async with joined(Coder(store=store, shared=ScriptedResources(ScriptedModel(["Hello."]), ()))) as client:
        await (await client.load_session(unused.id)).prompt("hi")
        assert await list_ids() == {used.id, unused.id}

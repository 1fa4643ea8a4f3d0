"""A session goes on where it stopped: in another process, after a kill, from a fork, and when it is opened twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted import Kit, ScriptedModel
from coder.test_loop import Change, Look, call
from coder.whole import faults

from accord.agent.session import Session
from accord.coder.coder import Coder
from accord.coder.desk import Desk
from accord.coder.history import Call, Message, ModelSaid, Result, Summary, Text, ToolsSaid, UserSaid, mended
from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.coder.tools.planning import SetPlan
from accord.errors import RequestFailed
from accord.model.content import Image, Link, Resource, ResourceContents, TextContent
from accord.model.requests import McpServer
from accord.model.statement import Noted
from accord.store.base import SessionStore
from accord.store.memory import MemoryStore
from accord.store.sqlite import SqliteStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class Open(Coder):
    """Lets a test look at the desks of its sessions."""

    def __init__(self, model: ScriptedModel, store: SessionStore, *tools: Any) -> None:
        super().__init__(store=store, equipment=Kit(model, tools or TOOLS))
        self.opened: dict[str, Session] = {}

    async def session_opened(self, session: Session, how: Any) -> None:
        self.opened[session.id] = session
        await super().session_opened(session, how)

    def desk_of(self, id: str) -> Desk:
        return self.desk(self.opened[id])


TOOLS = (Look(), Change(), SetPlan())


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "sessions.sqlite")


def state(desk: Desk) -> dict[str, Any]:
    """Everything that must come back."""
    session = desk.session
    return {
        "history": desk.history,
        "plan": desk.plan,
        "used": desk.used,
        "cost": desk.cost,
        "title": session.title,
        "options": {option.id: option.value for option in session.options},
    }


def answer(dice: random.Random, number: int) -> list[Any]:
    """What a model might say, of every kind there is."""
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


async def test_what_is_restored_is_what_a_live_session_had(joined: Join, store: SessionStore) -> None:
    dice = random.Random(4)
    for _ in range(8):
        model = ScriptedModel(*[answer(dice, number) for number in range(30)], efforts=("low", "high"))
        model.spent = Spent(input=10, output=5, cost=0.01)
        agent = Open(model, store)
        async with joined(agent, ScriptedClient(permissions=["reject_once", True, True])) as client:
            session = await client.new_session()
            await session.set_mode(dice.choice(["ask", "code", "architect"]))
            await session.set_option("effort", "high")
            for number in range(4):
                with contextlib.suppress(RequestFailed):
                    await session.prompt(dice.choice(["go", "/compact", "do it", "/usage", "  "]) + f" {number}")
            live = state(agent.desk_of(session.id))
        assert faults(live["history"]) == []
        again = Open(ScriptedModel(efforts=("low", "high")), store)
        async with joined(again) as client:
            await (client.load_session if dice.random() < 0.5 else client.resume_session)(session.id)
            assert state(again.desk_of(session.id)) == live
    await store.close()


async def test_every_kind_of_content_comes_back(joined: Join, store: SessionStore) -> None:
    content = [
        TextContent("look"),
        Image(data="aGk=", mime_type="image/png"),
        Link(uri="file:///a.txt", name="a.txt"),
        Resource(resource=ResourceContents(uri="file:///b.txt", text="hello")),
        Resource(resource=ResourceContents(uri="file:///c.bin", blob="aGk=", mime_type="image/png")),
    ]
    agent = Open(ScriptedModel(["Seen."]), store)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt(content)
        live = list(agent.desk_of(session.id).history)
    assert live[0] == UserSaid(content=content)
    again = Open(ScriptedModel(), store)
    async with joined(again) as client:
        await client.load_session(session.id)
        assert again.desk_of(session.id).history == live
    await store.close()


class Torn(MemoryStore):
    """Keeps what it had after each statement, as a process would leave it that is killed there."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[MemoryStore] = []

    def append(self, session_id: str, statement: Any) -> None:
        super().append(session_id, statement)
        copy = MemoryStore()
        copy._infos = dict(self._infos)
        copy._histories = {id: list(history) for id, history in self._histories.items()}
        self.left.append(copy)


async def test_a_process_that_is_killed_at_any_instant_leaves_a_session_that_goes_on(joined: Join) -> None:
    store = Torn()
    model = ScriptedModel(
        ["First ", call(id="1"), call(id="2"), call("change", id="3")],
        ["then ", call("change", id="4")],
        [ModelError("full", kind="context")],
        ["Short."],
        ["Done."],
    )
    async with joined(Open(model, store), ScriptedClient()) as client:
        session = await client.new_session()
        await session.prompt("go")
    assert len(store.left) > 20
    for left in store.left:
        again = ScriptedModel(["Here."])
        agent = Open(again, left)
        async with joined(agent) as client:
            loaded = await client.load_session(session.id)
            assert faults(agent.desk_of(session.id).history) == []
            assert (await loaded.prompt("and now?")).text == "Here."
            assert faults(again.requests[0].messages) == []


async def test_a_fork_and_its_source_go_on_independently(joined: Join, store: SessionStore) -> None:
    model = ScriptedModel(["Hi.", call()], ["Seen."], ["In the fork."], ["In the source."])
    model.spent = Spent(input=10, output=5, cost=0.5)
    agent = Open(model, store)
    async with joined(agent, unstable=True) as client:
        source = await client.new_session()
        await source.prompt("hello")
        fork = await source.fork()
        assert agent.desk_of(fork.id).history == agent.desk_of(source.id).history
        assert agent.desk_of(fork.id).cost == 1.0
        await fork.prompt("one way")
        await source.prompt("another")
        live = {id: list(agent.desk_of(id).history) for id in (source.id, fork.id)}
    assert "one way" not in str(live[source.id]) and "another" not in str(live[fork.id])
    again = Open(ScriptedModel(), store)
    async with joined(again) as client:
        for id, history in live.items():
            await client.load_session(id)
            assert again.desk_of(id).history == history
    await store.close()


async def test_opening_what_is_open_disturbs_neither_the_turn_nor_what_is_known(joined: Join, project: Path) -> None:
    look = Look()
    look.hold = asyncio.Event()
    model = ScriptedModel(["Before."], ["Looking.", call()], ["Seen."], ["After."])
    agent = Open(model, MemoryStore(), look)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        turn = session.prompt("look")
        await asyncio.wait_for(look.begun.wait(), 5)
        desk = agent.desk_of(session.id)
        again = await client.load_session(session.id)
        assert agent.desk_of(session.id) is desk and len(desk.history) == 4
        (project / "sub").mkdir()
        with pytest.raises(RequestFailed, match="this session is working"):
            await client.load_session(session.id, cwd=str(project / "sub"))
        look.hold.set()
        assert (await turn).stop_reason == "end_turn"
        assert (await again.prompt("and?")).text == "After."
    assert faults(desk.history) == []
    assert [type(message) for message in model.requests[-1].messages] == [
        UserSaid, ModelSaid, UserSaid, ModelSaid, ToolsSaid, ModelSaid, UserSaid
    ]  # fmt: skip


async def test_a_session_opened_from_another_directory_works_there_by_its_rules(joined: Join, project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "accord.toml").write_text('[permissions]\ndeny = ["write:*.lock"]\n')
    model = ScriptedModel(["Hi."], [call("change", path="a.lock")], ["No."])
    agent = Open(model, MemoryStore())
    async with joined(agent, ScriptedClient()) as client:
        session = await client.new_session()
        await session.prompt("first")
        moved = await client.load_session(session.id, cwd=str(other))
        assert agent.desk_of(session.id).files.roots.paths == [str(other)]
        turn = await moved.prompt("second")
    assert turn.tool_calls[-1].status == "failed"
    assert "deny write:*.lock" in model.requests[-1].messages[-1].results[0].text


async def test_two_processes_on_one_session_leave_a_history_that_providers_take(joined: Join, tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    first, second = Look(), Look()
    first.hold, second.hold = asyncio.Event(), asyncio.Event()
    one = Open(ScriptedModel([call(id="x1")], ["One."]), SqliteStore(path), first)
    two = Open(ScriptedModel([call(id="y1")], ["Two."]), SqliteStore(path), second)
    async with joined(one) as here, joined(two) as there:
        session = await here.new_session()
        twin = await there.load_session(session.id)
        turns = [session.prompt("from here"), twin.prompt("from there")]
        await asyncio.wait_for(asyncio.gather(first.begun.wait(), second.begun.wait()), 5)
        second.hold.set()
        await turns[1]
        first.hold.set()
        await turns[0]
    model = ScriptedModel(["Both."])
    last = Open(model, SqliteStore(path))
    async with joined(last) as client:
        loaded = await client.load_session(session.id)
        assert faults(last.desk_of(session.id).history) == []
        assert (await loaded.prompt("and?")).text == "Both."
    said = str(model.requests[0].messages)
    assert all(words in said for words in ("from here", "from there", "One.", "Two.", "saw a.txt"))
    for agent in (one, two, last):
        await agent.kept.close()


U, D = UserSaid(content=[TextContent("u")]), ModelSaid(parts=[Text(text="d")])


def asking(*ids: str) -> ModelSaid:
    return ModelSaid(parts=[Call(id=id, name="look", arguments={}) for id in ids])


def giving(*ids: str) -> ToolsSaid:
    return ToolsSaid(results=[Result(id=id, name="look", text=f"saw {id}") for id in ids])


@pytest.mark.parametrize(
    "messages",
    [
        [U, asking("1", "2")],
        [U, asking("1", "2"), giving("1")],
        [U, asking("1"), U, giving("1"), D],
        [U, asking("1"), asking("2"), giving("2"), giving("1"), D],
        [U, giving("1"), D],
        [U, asking("1"), giving("1"), D, U, asking("1"), giving("1")],
        [U, asking("1"), giving("1", "9")],
        [U, D, D, asking("1"), giving("1"), D, D],
        [U, asking("1"), giving("1"), giving("1"), D],
        [Summary(text="s"), giving("1"), U],
    ],
)
def test_whatever_was_kept_is_mended_to_a_history_that_providers_take(messages: list[Message]) -> None:
    assert faults(mended(messages)) == []
    assert mended(mended(messages)) == mended(messages)


async def test_a_model_that_is_gone_is_said_so_and_another_can_be_chosen(joined: Join) -> None:
    store = MemoryStore()
    agent = Open(ScriptedModel(["Hi."]), store)
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
    agent = Open(model, MemoryStore(), look)
    async with joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("look")
        await asyncio.wait_for(look.begun.wait(), 5)
        await session.set_option("model", "test:scripted")
        assert closed == [], "it is still asked"
        look.hold.set()
        assert (await turn).text == "One."
        assert (await session.prompt("again")).text == "Two."
    assert closed == ["closed", "closed"]


async def test_messages_of_another_version_are_left_out_and_the_rest_is_known(joined: Join) -> None:
    store = MemoryStore()
    agent = Open(ScriptedModel(["Hi."]), store)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hello")
    store.append(session.id, Noted(kind="model", data={"type": "Dreamt", "of": "sheep"}))
    again = Open(ScriptedModel(["Yes."]), store)
    async with joined(again) as client:
        loaded = await client.load_session(session.id)
        assert (await loaded.prompt("still there?")).text == "Yes."
    assert "hello" in str(again.equipment.scripted.requests[0].messages)


async def test_servers_go_on_when_a_session_is_opened_again_and_are_changed_when_others_are_named(
    joined: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Fake:
        """Servers that only say what happens to them."""

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
    agent = Open(ScriptedModel(["Hi."]), MemoryStore())
    async with joined(agent) as client:
        session = await client.new_session(mcp_servers=[one])
        await client.load_session(session.id, mcp_servers=[one])
        assert seen == ["start one"]
        again = await client.load_session(session.id, mcp_servers=[one, two])
        assert seen == ["start one", "close one", "start one,two"]
        await client.load_session(session.id, mcp_servers=[])
        assert (await again.prompt("hello")).text == "Hi."
    assert seen == ["start one", "close one", "start one,two", "close one,two"]


async def test_a_session_in_which_nothing_was_said_is_listed_only_once_something_is(joined: Join) -> None:
    store = MemoryStore()

    async def listed() -> set[str]:
        return {info.id for info in (await store.list()).sessions}

    async with joined(Coder(store=store, equipment=Kit(ScriptedModel(["Hello."]), ()))) as client:
        unused = await client.new_session()
        used = await client.new_session()
        await used.prompt("hi")
    assert await listed() == {used.id}
    async with joined(Coder(store=store, equipment=Kit(ScriptedModel(["Hello."]), ()))) as client:
        await (await client.load_session(unused.id)).prompt("hi")
        assert await listed() == {used.id, unused.id}

"""Our client with agents on the official SDKs: Python and TypeScript in version 1, TypeScript in version 2.

One process and one connection for all tests of an agent, each in its own session, as in an editor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
import pytest_asyncio
from interop.workspace import RealWorkspace
from peers import commands
from support.prerequisites import require

import accord
from accord.client.agent import ConnectedAgent
from accord.client.session import Session
from accord.client.turn import Turn
from accord.model.session import Cost

pytestmark = [pytest.mark.peer, pytest.mark.asyncio(loop_scope="module")]

E = TypeVar("E")

AGENTS = ["py-agent-v1", "ts-agent-v1", "ts-agent-v2"]


class Peer(NamedTuple):
    """An agent on an official SDK."""

    name: str

    @property
    def version(self) -> int:
        return int(self.name[-1])

    def command(self, *flags: str) -> list[str]:
        return commands.agent(self.name[:2], self.version, *flags)  # type: ignore[arg-type]


class User:
    """The user of our client: answers permission requests and forms, and records them."""

    def __init__(self) -> None:
        self.decision: Any = None
        self.asked: list[accord.PermissionRequest] = []
        self.reply: Any = None
        self.questions: list[accord.Elicitation] = []
        self.noted: asyncio.Queue[Any] = asyncio.Queue()

    async def decide(self, request: accord.PermissionRequest) -> Any:
        self.asked.append(request)
        return await self.decision() if callable(self.decision) else self.decision

    def fill_in(self, question: accord.Elicitation) -> Any:
        self.questions.append(question)
        return self.reply

    def extensions(self) -> dict[str, Callable[[Any], Any]]:
        return {"_test/echo": lambda params: params, "_test/noted": self.noted.put_nowait}


@pytest.fixture(scope="module", params=AGENTS)
def peer(request: pytest.FixtureRequest) -> Peer:
    require(commands.missing(request.param[:2]))
    return Peer(request.param)


@pytest.fixture(scope="module")
def version(peer: Peer) -> int:
    return peer.version


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "notes.md").write_text("one\ntwo\n")
    (folder.parent / "secret.md").write_text("not yours")
    return folder


@pytest.fixture(scope="module")
def user() -> User:
    return User()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(folder: Path) -> AsyncIterator[RealWorkspace]:
    async with RealWorkspace(folder) as workspace:
        yield workspace


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent(peer: Peer, folder: Path, user: User, workspace: RealWorkspace) -> AsyncIterator[ConnectedAgent]:
    connecting = accord.connect(
        peer.command(),
        cwd=folder,
        versions={peer.version},
        workspace=workspace,
        permissions=user.decide,
        elicitation=user.fill_in,
        extensions=user.extensions(),
    )
    async with connecting as agent:
        yield agent
        assert agent.connection.problems == {}, "something that passed between us was not understood"


@pytest_asyncio.fixture(loop_scope="module")
async def session(agent: ConnectedAgent, user: User) -> Session:
    user.decision = user.reply = None
    user.asked, user.questions = [], []
    return await agent.new_session()


async def read(turn: Turn) -> list[accord.Event]:
    """Return all events of a turn."""
    return [event async for event in turn]


def of(kind: type[E], events: list[Any]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


# -- connection and sessions


async def test_the_handshake_tells_who_the_agent_is_and_what_it_offers(agent: ConnectedAgent, peer: Peer) -> None:
    assert agent.version == peer.version
    assert agent.name == peer.name
    assert [(method.id, method.name) for method in agent.auth_methods] == [("test", "Test login")]
    offers = agent.offers
    assert (offers.load, offers.resume, offers.list, offers.close) == (True, True, True, True)
    assert (offers.image, offers.resource, offers.audio) == (True, True, False)


async def test_an_agent_that_is_offered_both_versions_takes_its_own(peer: Peer, tmp_path: Path) -> None:
    async with accord.connect(peer.command(), cwd=tmp_path, versions={1, 2}) as agent:
        assert agent.version == peer.version


async def test_an_agent_without_our_version_is_refused(peer: Peer, tmp_path: Path) -> None:
    # The official version 1 agents answer with their own version, the version 2 agent with an error.
    with pytest.raises((accord.VersionError, accord.RequestFailed), match="protocol version"):
        await accord.connect(peer.command(), cwd=tmp_path, versions={3 - peer.version})


async def test_a_new_session_has_its_options(session: Session, version: int) -> None:
    values = {option.id: option.value for option in session.options}
    assert values == {"mode": "ask", "model": "fast"}
    if version == 2:
        assert [command.name for command in session.commands] == ["plan", "help"]


async def test_what_is_set_is_set(session: Session) -> None:
    await session.set_mode("careful")
    await session.set_model("deep")
    assert {option.id: option.value for option in session.options} == {"mode": "careful", "model": "deep"}


async def test_sessions_are_listed(agent: ConnectedAgent, session: Session, folder: Path) -> None:
    listed = [info async for info in agent.list_sessions(str(folder))]
    assert (listed[0].id, listed[0].title, listed[0].cwd) == ("stored-1", "An earlier talk", str(folder))
    assert session.id in [info.id for info in listed]


async def test_a_stored_session_is_loaded_with_all_that_was_said(agent: ConnectedAgent) -> None:
    session = await agent.load_session("stored-1")
    said = [(message.role, message.text) for message in session.transcript.timeline]
    assert said == [("user", "an earlier question"), ("agent", "an earlier answer")]
    assert all(message.replayed for message in session.transcript.timeline)
    assert session.option("model") is not None
    assert (await session.prompt("and now")).text == "and now"
    await session.close()


async def test_a_stored_session_is_resumed_without_it(agent: ConnectedAgent) -> None:
    session = await agent.resume_session("stored-1")
    assert session.transcript.timeline == []
    assert (await session.prompt("and now")).text == "and now"
    await session.close()


async def test_a_closed_session_takes_no_prompt(agent: ConnectedAgent, session: Session, version: int) -> None:
    await session.close()
    with pytest.raises(accord.LocalProtocolError, match="closed"):
        session.prompt("hello")
    params = {"sessionId": session.id, "prompt": [{"type": "text", "text": "hello"}]}
    with pytest.raises(accord.NotFound):  # the agent doesn't know it either
        await agent.request("session/prompt", params)


# -- what an agent says


async def test_a_prompt_is_answered_in_chunks(session: Session) -> None:
    turn = session.prompt("hello big world")
    events = await read(turn)
    assert [event.text for event in of(accord.Text, events)] == ["hello ", "big ", "world"]
    assert (turn.text, turn.stop_reason) == ("hello big world", "end_turn")


async def test_a_prompt_may_hold_more_than_text(session: Session, folder: Path) -> None:
    resource = accord.Resource.of((folder / "notes.md").as_uri(), "one\ntwo\n")
    image = accord.Image(data="iVBORw0KGgo=", mime_type="image/png")
    turn = await session.prompt("hello", resource, image, accord.ResourceLink(uri="https://example.org", name="a page"))
    assert turn.text == "hello"


async def test_a_plan_is_shown_and_changed(session: Session) -> None:
    first, second = of(accord.Plan, await read(session.prompt("plan")))
    assert [(entry.content, entry.priority) for entry in first.entries] == [
        ("Look", "high"),
        ("Write", "medium"),
        ("Check", "low"),
    ]
    assert [entry.status for entry in first.entries] == ["in_progress", "pending", "pending"]
    assert [entry.status for entry in second.entries] == ["completed", "in_progress", "pending"]
    assert list(session.transcript.plans.values()) == [second]


async def test_thoughts_come_before_words_and_apart_from_them(session: Session) -> None:
    events = await read(session.prompt("think"))
    spoken = [event for event in events if isinstance(event, (accord.Thought, accord.Text))]
    assert "".join(event.text for event in spoken[:3]) == "one two three"
    assert [type(event) for event in spoken] == [accord.Thought] * 3 + [accord.Text] * 3
    messages = [item for item in session.transcript.timeline if getattr(item, "role", "") != "user"]
    assert [(item.role, item.text) for item in messages] == [("thought", "one two three"), ("agent", "four five six")]


async def test_a_tool_call_goes_its_way_and_shows_its_change(session: Session, folder: Path, version: int) -> None:
    turn = session.prompt("tool")
    calls = of(accord.ToolCall, await read(turn))
    path = str(folder / "notes.txt")
    assert [call.status for call in calls] == ["pending", "in_progress", "completed"]
    assert turn.text == "edited"
    (call,) = turn.tool_calls
    assert (call.title, call.kind, call.raw_input, call.raw_output) == (
        "Edit the notes",
        "edit",
        {"path": path},
        {"written": 4},
    )
    assert [(place.path, place.line) for place in call.locations] == [(path, 1)]
    (diff,) = call.diffs
    (change,) = diff.changes
    assert (change.operation, change.path) == ("modify", path)
    assert "-old\n+new\n" in diff.patch
    if version == 1:
        assert (change.old_text, change.new_text) == ("old\n", "new\n")


async def test_usage_title_commands_and_options_are_reported(session: Session) -> None:
    await session.prompt("usage")
    usage = session.transcript.usage
    assert usage == accord.Usage(used=1200, size=200000, cost=Cost(amount=0.25, currency="USD"))
    await session.prompt("title A new name")
    assert session.title == "A new name"
    await session.prompt("commands")
    assert [(command.name, command.hint) for command in session.commands] == [("plan", "what to plan"), ("help", None)]
    await session.prompt("mode")
    assert {option.id: option.value for option in session.options} == {"mode": "careful", "model": "deep"}


async def test_a_large_message_arrives_whole(session: Session) -> None:
    assert (await session.prompt("big 3000000")).text == "x" * 3_000_000


async def test_a_refusal_is_how_the_turn_ended(session: Session) -> None:
    assert (await session.prompt("refuse")).stop_reason == "refusal"


# -- what an agent asks


@pytest.mark.parametrize(
    "decision, said", [(True, "allowed"), (False, "denied"), ("yes", "allowed"), (None, "cancelled")]
)
async def test_permission_is_given_refused_or_left_open(session: Session, user: User, decision: Any, said: str) -> None:
    user.decision = decision
    turn = await session.prompt("permission")
    assert (turn.text, turn.stop_reason) == (said, "end_turn")
    (request,) = user.asked
    assert request.title == "Delete the notes"
    assert [(option.id, option.kind) for option in request.options] == [("yes", "allow_once"), ("no", "reject_once")]
    assert request.tool_call is not None and request.tool_call.kind == "delete"


async def test_cancelling_while_asked_ends_the_question_and_the_turn(session: Session, user: User) -> None:
    void = asyncio.Event()

    async def decide() -> None:
        try:
            await session.cancel()  # which cancels this very request
            await asyncio.Event().wait()
        finally:
            void.set()

    user.decision = decide
    turn = await session.prompt("permission")
    assert turn.stop_reason == "cancelled"
    await void.wait()
    assert (await session.prompt("still here")).text == "still here"


async def test_a_form_is_filled_in_declined_or_left(session: Session, user: User) -> None:
    for user.reply, said in [
        ({"name": "Ada"}, "hello Ada"),
        (accord.Reply(action="decline"), "decline"),
        (None, "cancel"),
    ]:
        assert (await session.prompt("elicit")).text == said
    assert user.questions[0].message == "Who are you?"
    assert user.questions[0].schema["properties"]["name"]["title"] == "Your name"


async def test_files_are_read_and_written_where_they_may_be(session: Session, folder: Path, version: int) -> None:
    if version == 2:
        assert (await session.prompt("read notes.md")).text == "read notes.md"  # version 2 has no such methods
        return
    assert (await session.prompt("read notes.md")).text == "one\ntwo\n"
    assert (await session.prompt("write made/out.md some text")).text == "written"
    assert (folder / "made" / "out.md").read_text() == "some text"
    assert (await session.prompt("read absent.md")).text == "error -32002"
    assert (await session.prompt("read ../secret.md")).text == "error -32602"
    assert (await session.prompt("write ../secret.md mine")).text == "error -32602"
    assert (folder.parent / "secret.md").read_text() == "not yours"


async def test_a_command_runs_and_its_output_is_shown(
    session: Session, workspace: RealWorkspace, folder: Path, version: int
) -> None:
    turn = session.prompt("terminal sh -c pwd;echo<&-;exit${IFS}3")
    events = await read(turn)
    assert turn.text == f"{folder}\n\nexit 3"
    (call,) = turn.tool_calls
    (shown,) = call.content
    assert (call.kind, call.status) == ("execute", "completed")
    if version == 1:
        assert workspace.open_terminals == []
    else:
        terminal = session.transcript.terminals[shown.terminal_id]
        assert (terminal.text, terminal.exit) == (f"{folder}\n\n", accord.ExitStatus(code=3))
        assert b"".join(event.data for event in of(accord.TerminalOutput, events)) == terminal.output


# -- cancelling


async def test_cancelling_ends_the_turn_and_the_session_continues(session: Session) -> None:
    turn = session.prompt("wait")
    async for event in turn:
        if isinstance(event, accord.Text):
            await turn.cancel()
    assert (turn.text, turn.stop_reason) == ("waiting", "cancelled")
    assert (await session.prompt("still here")).text == "still here"


async def test_leaving_the_loop_cancels_the_turn(session: Session) -> None:
    turn = session.prompt("wait")
    async for event in turn:
        if isinstance(event, accord.Text):
            break
    assert (await turn).stop_reason == "cancelled"
    assert (await session.prompt("still here")).text == "still here"


async def test_a_second_prompt_waits_its_turn_and_is_dropped_by_a_cancel(session: Session) -> None:
    first = session.prompt("wait")
    second = session.prompt("never")
    async for event in first:
        if isinstance(event, accord.Text):
            await session.cancel()
    assert first.stop_reason == "cancelled"
    assert (await second).stop_reason == "cancelled"
    assert second.text == ""


async def test_sessions_work_side_by_side(agent: ConnectedAgent, session: Session) -> None:
    waiting = session.prompt("wait")
    others = [await agent.new_session() for _ in range(3)]
    turns = await asyncio.gather(*(other.prompt(f"hello {index}") for index, other in enumerate(others)))
    assert [turn.text for turn in turns] == ["hello 0", "hello 1", "hello 2"]
    assert waiting.stop_reason is None
    await session.cancel()
    assert (await waiting).stop_reason == "cancelled"


# -- beyond the protocol, and errors


async def test_extensions_work_both_ways(agent: ConnectedAgent, session: Session, user: User) -> None:
    assert await agent.request("_test/echo", {"a": [1, {"b": None}]}) == {"a": [1, {"b": None}]}
    await agent.notify("_test/note", {"n": 1})
    assert await user.noted.get() == {"n": 1}
    assert (await session.prompt("extension")).text == '{"from":"agent"}'


async def test_an_unknown_method_is_not_found(agent: ConnectedAgent) -> None:
    with pytest.raises(accord.MethodNotFound):
        await agent.request("_test/unknown")


async def test_a_failing_prompt_says_why(session: Session) -> None:
    with pytest.raises(accord.RequestFailed) as failure:
        await session.prompt("fail")
    assert (failure.value.code, failure.value.data) == (-32603, {"why": "asked"})
    assert failure.value.message == "the agent was asked to fail"
    assert (await session.prompt("still here")).text == "still here"


async def test_an_unknown_session_is_not_found(agent: ConnectedAgent) -> None:
    with pytest.raises(accord.NotFound):
        await agent.load_session("nobody")
    with pytest.raises(accord.NotFound):
        await agent.resume_session("nobody")
    assert "nobody" not in agent.sessions


async def test_bad_params_are_refused(agent: ConnectedAgent, session: Session) -> None:
    with pytest.raises(accord.InvalidParams):
        await agent.request("session/prompt", {"sessionId": session.id, "prompt": "no list"})
    with pytest.raises(accord.InvalidParams):
        await session.set_mode("unknown")
    assert (await session.prompt("still here")).text == "still here"


# -- agents that are not so well


async def test_the_exit_of_an_agent_is_reported_with_its_last_output(peer: Peer, tmp_path: Path) -> None:
    async with accord.connect(peer.command(), cwd=tmp_path, versions={peer.version}) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.PeerDied) as death:
            await session.prompt("die")
    assert death.value.status == 3
    assert "last words" in death.value.stderr


async def test_an_agent_that_demands_a_login_gets_one(peer: Peer, tmp_path: Path) -> None:
    async with accord.connect(peer.command("--auth"), cwd=tmp_path, versions={peer.version}) as agent:
        with pytest.raises(accord.AuthRequired):
            await agent.new_session()
        await agent.login("test")
        assert (await (await agent.new_session()).prompt("hello")).text == "hello"


async def test_a_client_without_workspace_or_forms_offers_none(peer: Peer, tmp_path: Path) -> None:
    chosen: list[str] = []

    def login(methods: list[accord.AuthMethod]) -> str:
        chosen.extend(method.id for method in methods)
        return methods[0].id

    options = {"cwd": tmp_path, "versions": {peer.version}, "login": login}
    async with accord.connect(peer.command("--auth"), **options) as agent:  # type: ignore[arg-type]
        session = await agent.new_session()
        assert chosen == ["test"]
        assert (await session.prompt("elicit")).text == "no elicitation"
        assert (await session.prompt("permission")).text == "denied"
        assert (await session.prompt("extension")).text == "error -32601"
        if peer.version == 1:
            assert (await session.prompt("read notes.md")).text == "error -32601"

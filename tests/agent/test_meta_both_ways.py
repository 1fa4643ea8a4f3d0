"""`_meta` that an agent sends reaches the client's objects, and the other way round, in both versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.link import Link
from support.stored_sessions import Kept

from accord import (
    Agent,
    AgentSession,
    AuthMethod,
    Choice,
    Client,
    Command,
    Diff,
    Elicitation,
    Event,
    Implementation,
    Location,
    MemoryStore,
    Mode,
    Option,
    PermissionOption,
    PermissionRequest,
    Plan,
    PlanEntry,
    Reply,
    SessionInfo,
    Subagent,
    SystemPrompt,
    TerminalChanged,
    TerminalOutput,
    ToolCall,
    Turn,
)
from accord.model.content import TextContent
from accord.model.session import Cost, Tokens, Usage
from accord.model.statement import SetUsage
from accord.store.base import Page

META = {"example.org": {"n": 1}}

SENT: dict[str, Callable[[Turn], Any]] = {
    "remove_plan": lambda turn: turn.session.remove_plan(meta=META),
    "compaction_text": lambda turn: turn.session.compaction_text("c", "x", meta=META),
    "set_commands": lambda turn: turn.session.set_commands([], meta=META),
    "set_options": lambda turn: turn.session.set_options([], meta=META),
    "set_info": lambda turn: turn.session.set_info(updated_at="2026-01-01T00:00:00Z", meta=META),
    "subagent": lambda turn: turn.session.subagent(Subagent(session_id="child", title="x", meta=META)),
    "plan": lambda turn: turn.plan(Plan(entries=[PlanEntry(content="x")], meta=META)),
}


class Saying(Agent):
    """Does one thing in a turn."""

    unstable = True

    def __init__(self, act: Callable[[Turn], Any]) -> None:
        self.act = act

    async def prompt(self, turn: Turn) -> None:
        await self.act(turn)


async def events_of(link: Link, act: Callable[[Turn], Any]) -> list[Event]:
    async with link(Saying(act), unstable=True) as client:
        session = await client.new_session()
        return [event async for event in session.prompt("go")]


@pytest.mark.feature("metadata of updates", "agent", "client")
@pytest.mark.req("V1-EXT-01", "V2-EXT-01")
@pytest.mark.parametrize("how", SENT)
async def test_what_an_agent_sends_with_an_update_is_the_events_metadata(link: Link, how: str, version: int) -> None:
    found = [event.meta for event in await events_of(link, SENT[how])]
    # Version 1 merges no metadata into a compaction that only grew.
    assert META in found or (how == "compaction_text" and found)


@pytest.mark.feature("metadata of parts", "agent", "client")
async def test_the_parts_of_updates_have_metadata(link: Link, version: int) -> None:
    async def act(turn: Turn) -> None:
        session = turn.session
        await turn.plan([PlanEntry(content="x", meta=META)])
        await session.set_commands([Command(name="go", description="Go", meta=META)])
        choices = [Choice(value="a", name="A", meta=META)]
        await session.set_options([Option(id="o", name="O", value="a", choices=choices, meta=META)])
        await session.writer.state(
            SetUsage(usage=Usage(used=1, size=2, cost=Cost(amount=1, currency="EUR", meta=META)))
        )
        diff = Diff.of("/a", "1", "2")
        diff.meta = META
        async with turn.tool("x", locations=[Location(path="/a", meta=META)]) as tool:
            await tool.show(diff)
        turn.tokens = Tokens(total=2, input=1, output=1, meta=META)

    async with link(Saying(act), unstable=True) as client:
        session = await client.new_session()
        turn = await session.prompt("go")

    seen, call = session.transcript, turn.tool_calls[0]
    assert seen.plans["main"].entries[0].meta == META
    assert seen.commands[0].meta == META
    assert (session.options[0].meta, session.options[0].choices[0].meta) == (META, META)
    assert seen.usage is not None and seen.usage.cost is not None and seen.usage.cost.meta == META
    assert (call.locations[0].meta, call.diffs[0].meta) == (META, META)
    assert turn.tokens is not None and turn.tokens.meta == META


async def test_the_updates_of_a_tool_call_have_metadata(link: Link) -> None:
    async def act(turn: Turn) -> None:
        tool = turn.tool("x")
        await tool.show("one", meta={"a": 1})
        await tool.set_content("two", meta={"b": 2})
        await tool.complete(meta={"c": 3})

    calls = [event.meta for event in await events_of(link, act) if isinstance(event, ToolCall)]
    assert [meta and max(meta) for meta in calls if meta][-1] == "c"


@pytest.mark.feature("display terminals", "agent", "client", versions=(2,))
@pytest.mark.req("V2-TERM-03", "V2-TERM-05", "V2-TERM-09")
async def test_a_terminal_has_a_size_a_title_a_directory_and_snapshots(link: Link, version: int) -> None:
    async def act(turn: Turn) -> None:
        terminal = turn.display_terminal("top", size=(80, 24), meta=META)
        async with turn.tool("Watch") as tool:
            await tool.show(terminal)
            await terminal.write("first", meta={"chunk": 1})
            await terminal.set_output("screen 2")
            await terminal.write("!")
            await terminal.update(command="top -b", cwd="/srv", size=(100, 30), meta={"more": True})
            await terminal.update(size=None)
            await terminal.exit(meta={"end": 1})

    events = await events_of(link, act)
    if version == 1:
        text = [
            item.text
            for event in events
            if isinstance(event, ToolCall)
            for item in event.content
            if isinstance(item, TextContent)
        ]
        assert text[-1] == "screen 2!"
        return
    changes = [event.terminal for event in events if isinstance(event, TerminalChanged)]
    assert [(each.columns, each.rows) for each in changes] == [
        (80, 24),
        (80, 24),
        (100, 30),
        (None, None),
        (None, None),
    ]
    assert (changes[0].command, changes[2].command, changes[2].cwd) == ("top", "top -b", "/srv")
    assert changes[-1].text == "screen 2!"
    assert [event.meta for event in events if isinstance(event, TerminalOutput)] == [{"chunk": 1}, None]
    assert changes[-1].meta == {**META, "more": True, "end": 1}


@pytest.mark.feature("metadata of responses", "agent", "client")
async def test_responses_have_the_metadata_that_the_agent_set(link: Link, version: int) -> None:
    class Answering(Agent):
        response_meta = {"hello": 1}
        info_meta = {"build": "x"}
        auth_methods = (AuthMethod(id="a", name="A", meta=META),)
        modes = (Mode(id="m", name="M", meta=META),)
        store = MemoryStore()

        async def session_opened(self, session: AgentSession, how: Any) -> None:
            session.response_meta = {"how": how}

        async def prompt(self, turn: Turn) -> None:
            turn.response_meta = {"turn": turn.text}

    async with link(Answering()) as client:
        session = await client.new_session("/p")
        turn = await session.prompt("one")
        plain = session.response_meta
        resumed = await client.resume_session(session.id, "/p")

    assert client.offers.response_meta == {"hello": 1}
    assert client.offers.info is not None and client.offers.info.meta == {"build": "x"}
    assert client.auth_methods[0].meta == META
    assert session.options[0].choices[0].meta == META
    assert (plain, resumed.response_meta) == ({"how": "new"}, {"how": "resume"})
    assert turn.response_meta == {"turn": "one"}


async def test_listed_sessions_have_metadata_and_none_of_the_librarys_own(link: Link) -> None:
    class Listing(Agent):
        async def prompt(self, turn: Turn) -> None: ...

        async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
            return Page(sessions=[SessionInfo(id="a", cwd="/", meta=META)])

    class Named(Kept):
        unstable = True

    async with link(Listing()) as client:
        own = [info.meta async for info in client.list_sessions()]
    async with link(Named(["hi"]), unstable=True) as client:
        session = await client.new_session()
        await client.set_title(session.id, "Mine")
        stored = [info.meta async for info in client.list_sessions()]

    assert (own, stored) == ([META], [None])


@pytest.mark.feature("metadata of requests to the user", "agent", "client")
@pytest.mark.req("V1-ELIC-05")
async def test_questions_and_their_answers_have_metadata(link: Link) -> None:
    requests: list[PermissionRequest] = []
    questions: list[Elicitation] = []
    answers: list[Any] = []

    async def act(turn: Turn) -> None:
        async with turn.tool("Deploy") as tool:
            options = [PermissionOption(id="y", name="Yes", kind="allow_once", meta=META)]
            answers.append(await tool.permit("Deploy?", options=options, meta=META))
            answers.append(await tool.ask("Where?", {"properties": {"to": {"type": "string"}}}, meta=META))
            answers.append(tool.id)

    def permit(request: PermissionRequest) -> bool:
        requests.append(request)
        request.response_meta = {"by": "ada"}
        return True

    def fill_in(question: Elicitation) -> Reply:
        questions.append(question)
        return Reply(action="accept", content={"to": "eu"}, meta={"by": "ada"})

    async with link(Saying(act), permissions=permit, elicitation=fill_in) as client:
        await (await client.new_session()).prompt("go")

    permission, reply, id = answers
    assert (requests[0].meta, requests[0].options[0].meta) == (META, META)
    assert (questions[0].meta, questions[0].tool_call_id) == (META, id)
    assert permission and permission.meta == {"by": "ada"}
    assert reply == Reply(action="accept", content={"to": "eu"}, meta={"by": "ada"})


@pytest.mark.feature("system prompts", "agent", "client")
@pytest.mark.req("V1-SETUP-26")
async def test_system_prompts_have_blocks_and_metadata(link: Link) -> None:
    seen: list[SystemPrompt | None] = []

    class Instructed(Agent):
        unstable = True
        system_prompts = ("append",)

        async def new_session(self, session: AgentSession) -> None:
            seen.append(session.system_prompt)

        async def prompt(self, turn: Turn) -> None: ...

    blocks = [TextContent("Be brief. "), TextContent("Be kind.", meta=META)]
    async with link(Instructed(), unstable=True) as client:
        await client.new_session(system_prompt=SystemPrompt(content=blocks, meta=META))
        await client.new_session(system_prompt="Be brief.")

    assert seen[0] == SystemPrompt(text="Be brief. Be kind.", content=blocks, meta=META)
    assert seen[1] is not None and seen[1].content == [TextContent("Be brief.")]


@pytest.mark.feature("metadata of the handshake", "agent", "client")
async def test_a_clients_name_and_first_request_have_metadata(link: Link) -> None:
    seen: list[Client] = []

    class Looking(Agent):
        async def on_connect(self, client: Client) -> None:
            seen.append(client)

        async def prompt(self, turn: Turn) -> None: ...

    info = Implementation(name="editor", version="1", meta={"channel": "beta"})
    async with link(Looking(), info=info, meta=META, capability_meta={"can": True}):
        pass

    assert seen[0].info == info
    assert (seen[0].meta, (seen[0].offers.meta or {})["can"]) == (META, True)

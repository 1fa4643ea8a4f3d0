"""Sessions opened again: replayed by the store or by the author, or resumed without a replay."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from support.link import Link, until
from support.stored_sessions import Kept, picture, reopen
from support.wire_client import ask, begin_session, hello, kinds, new_session, states, turn, until_states

from accord import (
    Agent,
    AgentSession,
    Choice,
    Command,
    Compaction,
    Image,
    InvalidParams,
    NotFound,
    Option,
    Turn,
)
from accord.client.session import Session
from accord.testing import ScriptedAgent, wire_client
from accord.testing import link as link_in


async def busy_turn(turn: Turn) -> None:
    """Says and does one of everything that a history holds."""
    await turn.think("Let me see.")
    await turn.plan(["Look", "Write"])
    await turn.say("I will ")
    await turn.say("edit.")
    async with turn.tool("Edit notes", kind="edit", locations=["notes.md:3"], raw_input={"a": 1}) as tool:
        await tool.diff("notes.md", None, "new\n")
        await tool.show("and more")
        await tool.complete(raw_output=[1])
    async with turn.tool("Fail"):
        terminal = turn.display_terminal("false")
        await terminal.write("oh ")
        await terminal.write("no")
        await terminal.exit(1)
    await turn.say("Done.")
    await turn.usage(5, 100, cost=0.5)
    await turn.set_title("Edited notes")
    await turn.notice("Only now")


@pytest.mark.feature("stored sessions", "agent", "client")
@pytest.mark.req("V1-LOAD-03", "V1-LOAD-04", "V1-LOAD-08", "V1-UPD-10", "V2-RESUME-06", "V2-RESUME-09", "V2-RESUME-15")
@pytest.mark.req("V1-LOAD-09", "V1-NOTICE-07", "V2-RESUME-13", "V2-USAGE-05")
async def test_a_replayed_session_looks_as_it_did(link: Link) -> None:
    agent = Kept([busy_turn], ["Second."])
    async with link(agent) as client:
        session = await client.new_session("/project")
        await session.prompt("first")
        await session.prompt("second")
        before = session.transcript.snapshot()
        was = [item for item in picture(session) if not hasattr(item, "severity")]
    async with link(agent) as client:
        again = await client.load_session(session.id, "/project")
        after = again.transcript.snapshot()

    assert picture(again) == was
    assert (after.plans, after.usage, after.title) == (before.plans, before.usage, before.title)
    assert {t.id: (t.command, t.output, t.exit) for t in after.terminals.values()} == {
        t.id: (t.command, t.output, t.exit) for t in before.terminals.values()
    }
    assert again.transcript.notices == []
    assert after.state == "idle"
    assert all(item.replayed for item in after.timeline if hasattr(item, "replayed"))


@pytest.mark.req("V1-LOAD-06", "V1-RESUME-04", "V1-LOAD-05")
async def test_an_opened_session_takes_prompts_as_if_nothing_had_happened(link: Link) -> None:
    agent = Kept(["one"], ["two"], ["three"])
    async with link(agent) as client:
        id = (session := await client.new_session()).id
        await session.prompt("a")
    async with link(agent) as client:
        loaded = await client.load_session(id)
        second = await loaded.prompt("b")
    async with link(agent) as client:
        resumed = await client.resume_session(id)
        third = await resumed.prompt("c")
        again = await client.load_session(id)

    assert (second.text, third.text) == ("two", "three")
    said = [("user", "a"), ("agent", "one"), ("user", "b"), ("agent", "two"), ("user", "c"), ("agent", "three")]
    assert picture(again) == said


@pytest.mark.req("V1-RESUME-03", "V2-RESUME-05", "V2-RESUME-10", "V2-RESUME-11")
async def test_resuming_tells_nothing_old(version: int) -> None:
    agent = Kept(["one"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, version)
        answer = await reopen(peer, version, session, replay=False)
        await peer.quiet()

    assert answer["result"] == {}
    assert kinds(peer.updates) == {1: [], 2: ["state_update"]}[version]


@pytest.mark.req("V2-RESUME-06", "V2-RESUME-10", "V2-RESUME-09")
async def test_in_version_2_the_state_stands_between_the_history_and_the_answer() -> None:
    agent = Kept(["one"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        sent = await peer.answer_to(await ask(peer, session, "a"))
        await until_states(peer, "running", "idle")
    async with wire_client(agent) as peer:
        await hello(peer, 2)
        answer = await reopen(peer, 2, session, replay=True)

    assert kinds(peer.updates) == ["user_message", "agent_message", "state_update"]
    assert peer.updates[0]["messageId"] == sent["result"]["messageId"]
    assert peer.updates[-1] == {"sessionUpdate": "state_update", "state": "idle"}
    assert peer.received[-1] == answer


@pytest.mark.req("V2-UPD-16", "V2-RESUME-12")
async def test_in_version_2_a_history_is_replayed_as_whole_messages_and_terminal_snapshots() -> None:
    image = Image(data="", mime_type="image/png")

    async def work(turn: Turn) -> None:
        for word in ("a", "b", "c"):
            await turn.say(word, message_id="m")
        await turn.say(image, message_id="m")
        await turn.say("d", message_id="m")
        terminal = turn.display_terminal("ls")
        async with turn.tool("List", id="t") as tool:
            await tool.show(terminal)
            for line in ("one\n", "two\n"):
                await terminal.write(line)
            await turn.say("e", message_id="m")
            await turn.say("f", message_id="m")
            await terminal.write("three\n")
            await terminal.exit(0)

    agent = Kept([work])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        await until_states(peer, "running", "idle")
    async with wire_client(agent) as peer:
        await hello(peer, 2)
        await reopen(peer, 2, session, replay=True)

    messages = [update for update in peer.updates if update.get("messageId") == "m"]
    terminals = [update for update in peer.updates if "terminalId" in update]
    assert [
        (each["sessionUpdate"], [piece.get("text", piece["type"]) for piece in each["content"]])
        for each in messages
        if isinstance(each["content"], list)
    ] == [("agent_message", ["abc", "image", "d"])]
    assert [each["content"]["text"] for each in messages if each["sessionUpdate"] == "agent_message_chunk"] == ["ef"]
    assert [(each["sessionUpdate"], *sorted(each.keys() - {"sessionUpdate", "terminalId"})) for each in terminals] == [
        ("terminal_update", "command", "cwd"),
        ("terminal_update", "output"),
        ("terminal_output_chunk", "data"),
        ("terminal_update", "capabilities", "exitStatus"),
    ]
    assert base64.b64decode(terminals[1]["output"]["data"]) == b"one\ntwo\n"


@pytest.mark.req("V1-LOAD-03", "V1-LOAD-04", "V1-UPD-02")
async def test_in_version_1_the_history_with_the_users_messages_comes_before_the_response() -> None:
    agent = Kept(["one"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        await turn(peer, 1, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, 1)
        answer = await reopen(peer, 1, session, replay=True)

    assert kinds(peer.updates) == ["user_message_chunk", "agent_message_chunk"]
    assert peer.updates[0]["content"] == {"type": "text", "text": "a"}
    assert all(update["messageId"] for update in peer.updates)
    assert peer.received[-1] == answer


@pytest.mark.req("V2-RESUME-07")
@pytest.mark.parametrize("cursor", [{"type": "_x"}, {"type": "message", "messageId": "m"}, {}, "start"])
async def test_in_version_2_a_place_to_begin_from_that_is_not_known_is_refused(cursor: Any) -> None:
    async with wire_client(Kept()) as peer:
        session = await begin_session(peer, 2)
        refused = await peer.call("session/resume", {"sessionId": session, "cwd": "/project", "replayFrom": cursor})

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V2-RESUME-10", "V2-STATE-01")
async def test_in_version_2_a_session_that_works_is_resumed_as_working() -> None:
    go_on = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await go_on.wait()

    async with wire_client(Kept([wait])) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "a")
        await until_states(peer, "running")
        await reopen(peer, 2, session, replay=False)
        now = states(peer.updates)
        go_on.set()
        await until_states(peer, "running", "running", "idle")

    assert now == ["running", "running"]


@pytest.mark.req("V1-LOAD-10", "V1-LOAD-11", "V2-RESUME-02", "V2-RESUME-04", "V1-RESUME-02")
async def test_an_opened_session_has_the_roots_and_servers_of_the_request_alone(version: int) -> None:
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.append((turn.session.roots, [server.name for server in turn.session.mcp_servers]))

    class Rooted(Kept):
        additional_directories = True

    agent = Rooted([look], [look], [look])
    server = {"name": "one", "command": "/bin/true", "args": [], "env": []} | (
        {"type": "stdio"} if version == 2 else {}
    )
    async with wire_client(agent) as peer:
        await hello(peer, version)
        session = await new_session(peer, additionalDirectories=["/lib"], mcpServers=[server])
        await turn(peer, version, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, version)
        await reopen(peer, version, session, replay=True)
        await turn(peer, version, session, "b")
        await reopen(peer, version, session, replay=False, additionalDirectories=["/new"])
        await turn(peer, version, session, "c")

    assert seen == [(["/project", "/lib"], ["one"]), (["/project"], []), (["/project", "/new"], [])]


@pytest.mark.req("V1-RESUME-05", "V1-MODE-01", "V1-CONF-01", "V2-RESUME-14", "V1-CONF-03")
async def test_an_opened_session_has_its_options_as_they_were(link: Link) -> None:
    class Tuned(Kept):
        options = (
            Option(id="model", name="Model", value="fast", choices=[_choice("fast"), _choice("deep")]),
            Option(id="web", name="Web", value=False),
        )
        commands = (Command(name="help", description="Help"),)

    agent = Tuned()
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("model", "deep")
        await session.set_option("web", True)
    async with link(agent) as client:
        loaded = await client.load_session(session.id)
        await until(lambda: loaded.commands)
    async with link(agent) as client:
        resumed = await client.resume_session(session.id)
        fresh = await client.new_session()

    for session in (loaded, resumed):
        assert [(option.id, option.value) for option in session.options] == [("model", "deep"), ("web", True)]
    assert [option.value for option in fresh.options] == ["fast", False]


def _choice(value: str) -> Choice:
    return Choice(value=value, name=value.title())


async def test_loading_a_session_that_is_open_tells_it_once(link: Link) -> None:
    async with link(Kept(["one"], ["two"])) as client:
        session = await client.new_session()
        await session.prompt("a")
        same = await client.load_session(session.id)
        more = await same.prompt("b")

    assert same is session
    assert more.text == "two"
    assert picture(same) == [("user", "a"), ("agent", "one"), ("user", "b"), ("agent", "two")]


async def test_a_summary_sent_in_chunks_is_replayed(link: Link) -> None:
    async def shorten(turn: Turn) -> None:
        await turn.session.compaction("c1", "in_progress")
        await turn.session.compaction_text("c1", "We talked ")
        await turn.session.compaction_text("c1", "about notes.")
        await turn.session.compaction("c1", "completed")

    agent = Kept([shorten])
    async with link(agent) as client:
        session = await client.new_session()
        await session.prompt("go")
    async with link(agent) as client:
        again = await client.load_session(session.id)

    (was,), (now,) = session.transcript.compactions.values(), again.transcript.compactions.values()
    assert isinstance(now, Compaction)
    assert "".join(piece.text for piece in now.summary) == "We talked about notes."  # type: ignore[union-attr]
    assert (now.id, now.status) == (was.id, was.status) == ("c1", "completed")


async def test_an_agent_can_replay_a_loaded_session_itself(link: Link) -> None:
    class Author(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say("New.")

        async def load_session(self, session: AgentSession) -> None:
            if session.id != "mine":
                raise NotFound("not mine", data={"sessionId": session.id})
            await session.user_said("What was it?")
            await session.think("Hm.")
            await session.say("It was this.")
            async with session.tool("Old call"):
                pass

    async with link(Author()) as client:
        loaded = await client.load_session("mine")
        with pytest.raises(NotFound):
            await client.load_session("yours")
        turn = await loaded.prompt("go on")

    assert picture(loaded)[:3] == [("user", "What was it?"), ("thought", "Hm."), ("agent", "It was this.")]
    assert loaded.transcript.timeline[0].replayed  # type: ignore[union-attr]
    assert turn.text == "New."


@pytest.mark.req("V1-RESUME-03", "V2-RESUME-05")
async def test_a_resumed_session_is_restored_by_its_author_where_he_wrote_it(link: Link, version: int) -> None:
    story: list[str] = []

    class Author(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say(str(turn.session.data))

        async def resume_session(self, session: AgentSession) -> None:
            story.append(f"resume {session.id}")
            session.data["context"] = "restored"

    async with link(Author()) as client:
        resumed = await client.resume_session("mine")
        turn = await resumed.prompt("go")

    assert story == ["resume mine"]
    assert turn.text == "{'context': 'restored'}"


async def test_in_version_2_a_session_that_can_only_be_loaded_is_resumed_in_silence() -> None:
    class Author(Agent):
        async def prompt(self, turn: Turn) -> None:
            await turn.say(turn.session.data["context"])

        async def load_session(self, session: AgentSession) -> None:
            session.data["context"] = "restored"
            await session.say("Old words.")

    async with wire_client(Author()) as peer:
        await hello(peer, 2)
        await reopen(peer, 2, "mine", replay=False)
        told = kinds(peer.updates)
        await turn(peer, 2, "mine", "go")

    assert told == ["state_update"]
    chunks = [update["content"]["text"] for update in peer.updates if "chunk" in update["sessionUpdate"]]
    assert chunks == ["restored"]


async def test_sessions_outlive_their_connection_in_version_2_without_a_store() -> None:
    agent = ScriptedAgent(["one"])
    async with link_in(agent, version=2) as client:
        session = await client.new_session()
        await session.prompt("a")
    async with link_in(agent, version=2) as client:
        listed = [info.id async for info in client.list_sessions()]
        again = await client.load_session(session.id)

    assert listed == [session.id]
    assert picture(again) == [("user", "a"), ("agent", "one")]


async def test_a_session_saved_in_one_version_can_be_replayed_in_the_other() -> None:
    agent = Kept([busy_turn])
    async with link_in(agent, version=1) as client:
        session = await client.new_session("/project")
        await session.prompt("go")
    async with link_in(agent, version=2) as client:
        second = await client.load_session(session.id, "/project")
    async with link_in(agent, version=1) as client:
        first = await client.load_session(session.id, "/project")

    def plain(session: Session) -> list[Any]:
        return [item[:3] for item in picture(session) if isinstance(item, tuple)]

    assert plain(first) == plain(second)
    assert first.transcript.title == second.transcript.title == "Edited notes"


@pytest.mark.req("V2-RESUME-03")
@pytest.mark.parametrize("replay", [False, True])
async def test_an_author_may_refuse_to_open_a_session_in_another_directory(version: int, replay: bool) -> None:
    class Rooted(Kept):
        async def resume_session(self, session: AgentSession) -> None:
            if session.cwd != "/project":
                raise InvalidParams("this session belongs to /project")

        load_session = resume_session

    agent = Rooted(["one"], ["two"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, version)
        refused = await reopen(peer, version, session, replay=replay, cwd="/elsewhere")
        unheard = await peer.answer_to(await ask(peer, session, "b"))
        same = await reopen(peer, version, session, replay=replay)

    assert refused["error"]["code"] == -32602
    assert unheard["error"]["code"] == -32002, "a session that was refused is not open"
    assert "result" in same

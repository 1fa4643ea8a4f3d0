"""Unstable parts of sessions: forks, archives, status, titles, system prompts, providers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from support.link import Link
from support.stored_sessions import Kept, picture
from support.wire_client import hello, new_session

from accord import (
    Agent,
    AgentSession,
    CapabilityError,
    InvalidParams,
    NotFound,
    Provider,
    ProviderConfig,
    SessionInfo,
    Turn,
)
from accord.model.requests import SystemPrompt
from accord.store.base import Page
from accord.testing import ScriptedAgent, wire_client


class Daring(Kept):
    unstable = True
    additional_directories = True


# -- forks


@pytest.mark.feature("forks", "agent", "client")
@pytest.mark.req("V1-FORK-02", "V1-FORK-03", "V1-FORK-04", "V1-FORK-05", "V2-FORK-02", "V2-FORK-03")
async def test_a_fork_goes_its_own_way_from_the_same_history(link: Link) -> None:
    seen: list[Any] = []

    async def look(turn: Turn) -> None:
        seen.append(turn.session.roots)

    async with link(Daring(["one"], ["in the fork", look], ["in the source"]), unstable=True) as client:
        source = await client.new_session("/project", additional_directories=["/lib"])
        await source.prompt("a")
        fork = await source.fork()
        forked = await fork.prompt("b")
        sourced = await source.prompt("c")
        fork_told = await client.load_session(fork.id, "/project")
        source_told = await client.load_session(source.id, "/project")

    assert fork.id != source.id
    assert (forked.text, sourced.text) == ("in the fork", "in the source")
    assert seen == [["/project"]]
    begin = [("user", "a"), ("agent", "one")]
    assert picture(fork_told) == [*begin, ("user", "b"), ("agent", "in the fork")]
    assert picture(source_told) == [*begin, ("user", "c"), ("agent", "in the source")]


@pytest.mark.req("V1-FORK-03", "V1-FORK-06", "V2-FORK-02")
async def test_the_author_may_fork_sessions_himself(link: Link) -> None:
    class Author(ScriptedAgent):
        unstable = True

        async def fork_session(self, session: AgentSession, source: str) -> None:
            if source == "unknown":
                raise NotFound("no such session", data={"sessionId": source})
            await session.say(f"Forked from {source}.")

    async with link(Author(), unstable=True) as client:
        fork = await client.fork_session("mine", "/project")
        with pytest.raises(NotFound):
            await client.fork_session("unknown", "/project")
        turn = await fork.prompt("hi")

    assert turn.text == "You said: hi"
    assert fork.transcript.timeline[0].text == "Forked from mine."  # type: ignore[union-attr]


@pytest.mark.req("V1-FORK-01", "V2-FORK-01", "V1-FORK-16")
async def test_what_is_unstable_must_be_asked_for_and_offered(link: Link) -> None:
    async with link(Daring()) as client:
        session = await client.new_session()
        with pytest.raises(CapabilityError, match="unstable=True"):
            await session.fork()
        with pytest.raises(CapabilityError, match="unstable=True"):
            await client.archive_session(session.id)
        with pytest.raises(CapabilityError, match="unstable=True"):
            await client.set_title(session.id, "x")
    async with link(Kept(), unstable=True) as client:
        session = await client.new_session()
        for asked in (
            session.fork(),
            client.archive_session("x"),
            client.unarchive_session("x"),
            client.session_status("x"),
            client.set_title("x", "y"),
            client.list_providers(),
        ):
            with pytest.raises(CapabilityError, match="nothing was sent"):
                await asked


@pytest.mark.req("V1-FORK-06", "V2-FORK-02")
async def test_a_session_that_is_not_there_cannot_be_forked(link: Link) -> None:
    async with link(Daring(), unstable=True) as client:
        with pytest.raises(NotFound):
            await client.fork_session("unknown")


# -- archives


@pytest.mark.feature("archives, status, titles", "agent", "client")
@pytest.mark.req("V1-FORK-07", "V1-FORK-08", "V1-FORK-09", "V1-FORK-10", "V1-FORK-11", "V2-FORK-04", "V2-FORK-05")
async def test_an_archived_session_is_out_of_the_usual_list_until_it_is_brought_back(link: Link) -> None:
    async with link(Daring(["one"]), unstable=True) as client:
        kept, put_away = await client.new_session(), await client.new_session()
        await put_away.prompt("a")
        for _ in range(2):
            await client.archive_session(put_away.id)
        usual = [(info.id, info.archived) async for info in client.list_sessions()]
        only = [(info.id, info.archived) async for info in client.list_sessions(archived="only")]
        both = {info.id async for info in client.list_sessions(archived="include")}
        for _ in range(2):
            await client.unarchive_session(put_away.id)
        again = {info.id async for info in client.list_sessions()}
        told = await client.load_session(put_away.id)

    assert put_away.closed
    assert usual == [(kept.id, False)]
    assert only == [(put_away.id, True)]
    assert both == again == {kept.id, put_away.id}
    assert picture(told) == [("user", "a"), ("agent", "one")]


@pytest.mark.req("V1-FORK-08", "V1-FORK-09", "V1-FORK-10", "V2-FORK-04", "V2-FORK-05")
async def test_what_cannot_be_archived_or_listed_so_is_refused(version: int) -> None:
    async with wire_client(Daring()) as peer:
        await hello(peer, version)
        await new_session(peer)
        away = await peer.call("session/archive", {"sessionId": "unknown"})
        back = await peer.call("session/unarchive", {"sessionId": "unknown"})
        listed = await peer.call("session/list", {"archived": "x"})

    assert away["error"]["code"] == back["error"]["code"] == -32002
    assert away["error"]["data"] == {"sessionId": "unknown"}
    assert listed["error"]["code"] == -32602


async def test_the_author_may_archive_sessions_himself(link: Link) -> None:
    class Author(ScriptedAgent):
        unstable = True
        away: set[str] = set()

        async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
            return Page(sessions=[SessionInfo(id=id, cwd="/", archived=id in self.away) for id in ("1", "2")])

        async def archive_session(self, session_id: str) -> None:
            self.away.add(session_id)

        async def unarchive_session(self, session_id: str) -> None:
            self.away.discard(session_id)

    async with link(Author(), unstable=True) as client:
        await client.archive_session("1")
        usual = [info.id async for info in client.list_sessions()]
        only = [info.id async for info in client.list_sessions(archived="only")]
        await client.unarchive_session("1")
        both = [info.id async for info in client.list_sessions()]

    assert (usual, only, both) == (["2"], ["1"], ["1", "2"])


# -- status and titles


@pytest.mark.feature("archives, status, titles", "agent", "client")
@pytest.mark.req("V1-FORK-13", "V1-FORK-14", "V2-FORK-06")
async def test_a_session_is_open_or_saved_or_not_there(link: Link) -> None:
    async with link(Daring(), unstable=True) as client:
        session = await client.new_session()
        is_open = await client.session_status(session.id)
        await session.close()
        saved = await client.session_status(session.id)
        still = await client.session_status(session.id)
        with pytest.raises(NotFound) as caught:
            await client.session_status("unknown")

    assert (is_open, saved, still) == ("open", "saved", "saved")
    assert caught.value.data == {"sessionId": "unknown"}


@pytest.mark.req("V2-FORK-07", "V2-FORK-09")
async def test_in_version_2_the_status_of_an_open_session_has_its_state() -> None:
    async with wire_client(Daring()) as peer:
        await hello(peer, 2)
        session = await new_session(peer)
        is_open = await peer.call("session/status", {"sessionId": session})
        await peer.call("session/close", {"sessionId": session})
        saved = await peer.call("session/status", {"sessionId": session})

    assert is_open["result"] == {"status": "open", "state": {"state": "idle"}}
    assert saved["result"] == {"status": "saved"}


@pytest.mark.req("V1-FORK-15", "V2-FORK-08")
async def test_an_unknown_status_counts_as_saved(link: Link) -> None:
    class Odd(Daring):
        async def session_status(self, session_id: str) -> str:
            return "_frozen"

    async with link(Odd(), unstable=True) as client:
        assert await client.session_status("any") == "saved"


@pytest.mark.feature("archives, status, titles", "agent", "client")
@pytest.mark.req("V1-FORK-17", "V1-FORK-18", "V2-FORK-10")
async def test_a_session_can_be_named_by_its_user_open_or_not(link: Link) -> None:
    async with link(Daring(["one"]), unstable=True) as client:
        session = await client.new_session()
        kept = await client.set_title(session.id, "  Shopping \n list ")
        shown = session.title
        await session.prompt("a")
        await session.close()
        later = await client.set_title(session.id, "Groceries")
        listed = [info.title async for info in client.list_sessions()]
        for empty in ("", "  "):
            with pytest.raises(InvalidParams):
                await client.set_title(session.id, empty)
        with pytest.raises(NotFound):
            await client.set_title("unknown", "x")

    assert (kept, shown, later) == ("Shopping list", "Shopping list", "Groceries")
    assert listed == ["Groceries"]


@pytest.mark.req("V1-FORK-19", "V2-FORK-11")
async def test_an_agent_does_not_overwrite_the_title_that_its_user_gave(link: Link) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title("Generated")
        await turn.say(f"{turn.session.title}, by the user: {turn.session.titled_by_user}")

    agent = Daring([name], [name], [name])
    async with link(agent, unstable=True) as client:
        session = await client.new_session()
        said = [(await session.prompt("a")).text]
        await client.set_title(session.id, "Mine")
        said.append((await session.prompt("b")).text)
        forked = await session.fork()
        await session.close()
    async with link(agent, unstable=True) as client:
        again = await client.load_session(session.id)
        said.append((await again.prompt("c")).text)
        listed = {info.id: info.title async for info in client.list_sessions()}

    assert said == ["Generated, by the user: False", "Mine, by the user: True", "Mine, by the user: True"]
    assert listed == {session.id: "Mine", forked.id: "Mine"}


async def test_a_title_that_the_author_saves_is_not_overwritten_either(link: Link) -> None:
    titles: dict[str, str] = {}

    class Titled(Daring):
        async def set_title(self, session_id: str, title: str) -> str:
            titles[session_id] = title
            return title

    async def name(turn: Turn) -> None:
        await turn.set_title("Generated")
        await turn.say(str(turn.session.title))

    async with link(Titled([name]), unstable=True) as client:
        session = await client.new_session()
        await client.set_title(session.id, "Mine")
        said = (await session.prompt("a")).text

    assert (said, titles) == ("Mine", {session.id: "Mine"})


# -- system prompts


class Instructed(ScriptedAgent):
    unstable = True
    system_prompts = ("append",)

    async def prompt(self, turn: Turn) -> None:
        prompt = turn.session.system_prompt
        await turn.say("none" if prompt is None else f"{prompt.mode}: {prompt.text}")


class Overridden(Instructed):
    system_prompts = ("append", "override")


@pytest.mark.req("V1-SETUP-24", "V1-SETUP-25", "V1-SETUP-30", "V2-SETUP-10")
async def test_a_system_prompt_reaches_the_session(link: Link) -> None:
    async with link(Overridden(), unstable=True) as client:
        plain = await (await client.new_session()).prompt("?")
        added = await (await client.new_session(system_prompt="Be brief.")).prompt("?")
        instead = SystemPrompt(text="You are a cat.", mode="override")
        replaced = await (await client.new_session(system_prompt=instead)).prompt("?")

    assert [turn.text for turn in (plain, added, replaced)] == [
        "none",
        "append: Be brief.",
        "override: You are a cat.",
    ]


@pytest.mark.req("V1-SETUP-24", "V2-SETUP-10")
async def test_a_system_prompt_that_was_not_offered_is_not_sent(link: Link) -> None:
    async with link(Kept(), unstable=True) as client:
        with pytest.raises(CapabilityError, match="nothing was sent"):
            await client.new_session(system_prompt="x")
    async with link(Instructed(), unstable=True) as client:
        with pytest.raises(CapabilityError, match="nothing was sent"):
            await client.new_session(system_prompt=SystemPrompt(text="x", mode="override"))
    async with link(Instructed()) as client:
        with pytest.raises(CapabilityError, match="unstable"):
            await client.new_session(system_prompt="x")


@pytest.mark.req("V1-SETUP-25", "V1-SETUP-26", "V1-SETUP-27", "V2-SETUP-10")
@pytest.mark.parametrize(
    "prompt",
    [
        {"mode": "override", "content": [{"type": "text", "text": "x"}]},
        {"mode": "_whisper", "content": [{"type": "text", "text": "x"}]},
        {"mode": "append", "content": []},
        {"mode": "append", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        {"mode": "append"},
        "Be brief.",
    ],
)
async def test_a_system_prompt_that_cannot_be_applied_refuses_the_session(version: int, prompt: Any) -> None:
    async with wire_client(Instructed()) as peer:
        await hello(peer, version)
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": [], "systemPrompt": prompt})

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V1-SETUP-27")
async def test_an_agent_that_takes_no_system_prompts_refuses_one(version: int) -> None:
    async with wire_client(Kept()) as peer:
        await hello(peer, version)
        prompt = {"mode": "append", "content": [{"type": "text", "text": "x"}]}
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": [], "systemPrompt": prompt})

    assert refused["error"]["code"] == -32602


# -- providers


class Routed(Agent):
    """Lets its client say where model requests go."""

    unstable = True

    def __init__(self) -> None:
        self.main = Provider(id="main", supported=["anthropic", "_local"], required=True)
        self.spare = Provider(id="spare", supported=["openai"])
        self.headers: dict[str, str] = {}

    async def prompt(self, turn: Turn) -> None: ...

    async def list_providers(self) -> Sequence[Provider]:
        return [self.main, self.spare]

    async def set_provider(self, provider_id: str, config: ProviderConfig) -> None:
        (self.main if provider_id == "main" else self.spare).current = config
        self.headers = dict(config.headers)

    async def disable_provider(self, provider_id: str) -> None:
        assert provider_id == "spare"
        self.spare.current = None


@pytest.mark.feature("providers", "agent", "client")
@pytest.mark.req("V1-PROV-03", "V1-PROV-04", "V1-PROV-05", "V1-PROV-06", "V1-PROV-07", "V1-PROV-09", "V2-PROXY-03")
async def test_providers_are_listed_set_and_disabled(link: Link) -> None:
    agent = Routed()
    received: list[bytes] = []
    async with link(agent, unstable=True) as client:
        client.connection.watch(lambda way, line: received.append(bytes(line)) if way == "in" else None)
        before = await client.list_providers()
        await client.set_provider("main", api_type="_local", base_url="http://localhost:1", headers={"X": "1"})
        after = await client.list_providers()
        headers = dict(agent.headers)
        await client.set_provider("main", api_type="anthropic", base_url="http://localhost:2")
        with pytest.raises(InvalidParams, match="no provider 'other'"):
            await client.set_provider("other", api_type="anthropic", base_url="http://localhost:2")
        with pytest.raises(InvalidParams, match="supports anthropic, _local, not 'openai'"):
            await client.set_provider("main", api_type="openai", base_url="http://localhost:2")
        with pytest.raises(InvalidParams, match="required"):
            await client.dialect.disable_provider("main")  # the public method sends nothing
        await client.disable_provider("other")
        await client.set_provider("spare", api_type="openai", base_url="http://localhost:3")
        await client.disable_provider("spare")
        disabled = await client.list_providers()

    assert before == [
        Provider(id="main", supported=["anthropic", "_local"], required=True),
        Provider(id="spare", supported=["openai"]),
    ]
    assert after[0].current == ProviderConfig(api_type="_local", base_url="http://localhost:1")
    assert (headers, agent.headers) == ({"X": "1"}, {})
    assert any(b"localhost:1" in line for line in received)
    assert not any(b"headers" in line for line in received), "they hold keys"
    assert disabled[1] == before[1]


@pytest.mark.req("V1-PROV-08")
async def test_a_client_does_not_disable_a_provider_that_is_listed_as_required(link: Link) -> None:
    sent: list[bytes] = []
    async with link(Routed(), unstable=True) as client:
        client.connection.watch(lambda way, line: sent.append(bytes(line)) if way == "out" else None)
        await client.list_providers()
        with pytest.raises(CapabilityError, match="the agent requires the provider 'main'"):
            await client.disable_provider("main")
        await client.disable_provider("spare")
    assert [b"spare" in line for line in sent if b"providers/disable" in line] == [True]


@pytest.mark.req("V1-PROV-02")
async def test_providers_are_not_asked_about_where_they_are_not_offered(link: Link) -> None:
    sent: list[bytes] = []
    for agent, unstable in ((Kept(), True), (Routed(), False)):
        async with link(agent, unstable=unstable) as client:
            client.connection.watch(lambda way, line: sent.append(bytes(line)) if way == "out" else None)
            with pytest.raises(CapabilityError):
                await client.list_providers()
            with pytest.raises(CapabilityError):
                await client.set_provider("main", api_type="anthropic", base_url="http://localhost:1")
            with pytest.raises(CapabilityError):
                await client.disable_provider("main")
    assert not any(b"providers/" in line for line in sent)


# -- archived sessions that are opened


@pytest.mark.req("V1-FORK-12")
@pytest.mark.parametrize("known_by", ["listing", "archiving"])
async def test_an_archived_session_is_taken_out_of_the_archive_before_it_is_opened(link: Link, known_by: str) -> None:
    agent = Daring(["one"])
    async with link(agent, unstable=True) as client:
        first, second = await client.new_session(), await client.new_session()
        for session in (first, second):
            await client.archive_session(session.id)
        if known_by == "archiving":
            await _open_both(client, first.id, second.id)
    if known_by == "listing":
        async with link(agent, unstable=True) as client:
            assert len([info async for info in client.list_sessions(archived="only")]) == 2
            await _open_both(client, first.id, second.id)


async def _open_both(client: Any, first: str, second: str) -> None:
    """Loads one session and resumes another, and looks at what was asked, and in which order."""
    methods: list[str] = []

    def watch(way: str, lines: bytes) -> None:
        if way == "out":
            methods.extend(json.loads(line).get("method", "") for line in lines.splitlines())

    client.connection.watch(watch)
    await client.load_session(first)
    await client.resume_session(second)
    opening = {1: ["session/load", "session/resume"], 2: ["session/resume", "session/resume"]}[client.version]
    assert methods == ["session/unarchive", opening[0], "session/unarchive", opening[1]]
    assert [info.id async for info in client.list_sessions(archived="only")] == []
    await client.load_session(first)
    assert methods.count("session/unarchive") == 2, "once is enough"

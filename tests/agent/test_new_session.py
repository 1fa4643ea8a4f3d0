"""One hook for every way a session comes to be open, and options whose choices must be asked for first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, until
from support.stored_sessions import Kept, picture, reopen
from support.wire_client import ask, begin_session, hello, kinds, new_session, turn, wait_for_stop

from accord import Agent, AgentSession, AuthRequired, Choice, Command, MemoryStore, Option, RequestFailed, Turn
from accord.testing import wire_client

MODELS = {"north": ["n1", "n2"], "south": ["s1", "s2"]}


def option(id: str, values: list[str], value: str | None = None) -> Option:
    return Option(id=id, name=id, value=value or values[0], choices=[Choice(value=v, name=v) for v in values])


class Providers(Agent):
    """An agent whose models depend on its provider, which must be asked for them."""

    unstable = True

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.models = dict(MODELS)
        self.opened: list[tuple[str, str]] = []

    async def session_opened(self, session: AgentSession, how: str) -> None:
        self.opened.append((session.id, how))
        provider = str(session.values_before.get("provider", "north"))
        await session.set_options(await self.ask_provider(provider))

    async def ask_provider(self, provider: str) -> list[Option]:
        await asyncio.sleep(0)
        return [option("provider", list(self.models), provider), option("model", self.models[provider])]

    async def set_option(self, session: AgentSession, changed: Option, value: str | bool) -> None:
        if changed.id == "provider":
            await session.set_options(await self.ask_provider(str(value)))

    async def prompt(self, turn: Turn) -> None:
        await turn.say(", ".join(str(option.value) for option in turn.session.options))


async def test_options_set_while_a_session_is_created_are_sent_only_in_its_response(version: int) -> None:
    async with wire_client(Providers()) as peer:
        await hello(peer, version)
        answer = await peer.call("session/new", {"cwd": "/project", "mcpServers": []})
        await peer.quiet()

    assert [option["name"] for option in answer["result"]["configOptions"]] == ["provider", "model"]
    assert not {"config_option_update", "current_mode_update"} & set(kinds(peer.updates))


async def test_options_that_depend_on_others_are_had_back_with_their_values(link: Link) -> None:
    agent = Providers()
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("provider", "south")
        await session.set_option("model", "s2")
    said = []
    for how in ("load", "resume"):
        async with link(agent) as client:
            again = await (client.load_session if how == "load" else client.resume_session)(session.id)
            said.append({option.id: (option.value, len(option.choices)) for option in again.options})

    assert said == [{"provider": ("south", 2), "model": ("s2", 2)}] * 2
    assert agent.opened == [(session.id, "new"), (session.id, "load"), (session.id, "resume")]


async def test_a_fork_has_the_options_of_its_source(link: Link) -> None:
    agent = Providers()
    async with link(agent, unstable=True) as client:
        session = await client.new_session()
        await session.set_option("provider", "south")
        await session.set_option("model", "s2")
        fork = await session.fork()

    assert [option.value for option in fork.options] == ["south", "s2"]
    assert agent.opened[-1] == (fork.id, "fork")


async def test_a_value_that_is_gone_gives_way_and_comes_back_with_its_choice(link: Link) -> None:
    agent = Providers()
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("model", "n2")
    seen = []
    for models in (["n1"], ["n1", "n2"]):
        agent.models["north"] = models
        async with link(agent) as client:
            seen.append([option.value for option in (await client.load_session(session.id)).options])

    assert seen == [["north", "n1"], ["north", "n2"]]


async def test_what_the_hook_changes_on_purpose_stays_changed(link: Link) -> None:
    class Cautious(Providers):
        async def session_opened(self, session: AgentSession, how: str) -> None:
            await super().session_opened(session, how)
            if how == "load":
                await session.change_option("model", "n1")

    agent = Cautious()
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("model", "n2")
    async with link(agent) as client:
        again = await client.load_session(session.id)

    assert [option.value for option in again.options] == ["north", "n1"]


async def test_opening_an_open_session_again_keeps_what_was_chosen_in_it(link: Link) -> None:
    agent = Providers()
    async with link(agent) as client:
        session = await client.new_session()
        await session.set_option("provider", "south")
        await session.set_option("model", "s2")
        again = await client.load_session(session.id)

    assert [option.value for option in again.options] == ["south", "s2"]


class Greeting(Kept):
    """Says something as soon as a session is open."""

    async def session_opened(self, session: AgentSession, how: str) -> None:
        await session.say(f"hello by {how}")
        await session.set_commands([Command(name="go", description="Go")])


@pytest.mark.req("V1-LOAD-03", "V1-LOAD-04", "V2-RESUME-06")
async def test_what_is_said_on_opening_follows_the_answer(version: int) -> None:
    agent = Greeting(["one"])
    async with wire_client(agent) as peer:
        await hello(peer, version)
        session = await new_session(peer)
        await turn(peer, version, session, "a")
        first = [m.get("method") or "answer" for m in peer.received][1:3]
    async with wire_client(agent) as peer:
        await hello(peer, version)
        answer = await reopen(peer, version, session, replay=True)
        await peer.quiet()
        place = peer.received.index(answer)
        before = [message["params"]["update"] for message in peer.received[1:place]]
        after = [message["params"]["update"] for message in peer.received[place + 1 :] if "params" in message]

    user = "user_message_chunk" if version == 1 else "user_message"
    assert first == ["answer", "session/update"]
    said = "agent_message_chunk" if version == 1 else "agent_message"
    history = [said, user, said]
    assert kinds(before) == history + ([] if version == 1 else ["state_update"])
    assert kinds(after) == ["agent_message_chunk"] + (["available_commands_update"] if version == 1 else [])
    assert after[0]["content"]["text"] == "hello by load"
    if version == 2:
        assert [command["name"] for command in answer["result"]["availableCommands"]] == ["go"]


@pytest.mark.feature("sessions", "agent", "client")
async def test_what_was_said_on_opening_is_part_of_the_history_once(link: Link) -> None:
    agent = Greeting(["one"])
    async with link(agent) as client:
        session = await client.new_session()
        await session.prompt("a")
    async with link(agent) as client:
        await client.resume_session(session.id)
    async with link(agent) as client:
        again = await client.load_session(session.id)
        await until(lambda: len(picture(again)) == 5)

    said = [("agent", "hello by new"), ("user", "a"), ("agent", "one")]
    assert picture(again) == [*said, ("agent", "hello by resume"), ("agent", "hello by load")]


@pytest.mark.parametrize("how", ["new", "load", "resume", "fork"])
async def test_a_session_can_be_rejected_before_any_update_about_it(version: int, how: str) -> None:
    refused: list[str] = []

    class Members(Kept):
        unstable = True

        async def accept_session(self, session: AgentSession, how: str) -> None:
            if refused:
                raise AuthRequired("log in first")

    agent = Members(["secret"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
    refused.append(how)
    async with wire_client(agent) as peer:
        await hello(peer, version)
        if how in ("load", "resume"):
            answer = await reopen(peer, version, session, replay=how == "load")
        else:
            params = {"cwd": "/project", "mcpServers": []} | ({"sessionId": session} if how == "fork" else {})
            answer = await peer.call(f"session/{how}", params)
        unknown = await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "x"}]})

    assert answer["error"]["code"] == -32000
    assert peer.updates == []
    assert unknown["error"]["code"] == -32002
    assert [info.id for info in (await agent.kept.list()).sessions] == [session]


async def test_a_session_that_its_hook_refuses_is_not_open(link: Link) -> None:
    class Broken(Kept):
        async def session_opened(self, session: AgentSession, how: str) -> None:
            if how != "new":
                raise RequestFailed("the server is away")

    agent = Broken(["one"], ["two"])
    async with link(agent) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="away"):
            await client.load_session(session.id)
        still = await session.prompt("it was open before, and still is")
    async with link(agent) as client:
        with pytest.raises(RequestFailed, match="away"):
            await client.resume_session(session.id)

    assert still.text == "one"


async def test_a_refused_opening_leaves_an_open_session_where_it_works() -> None:
    seen: list[Any] = []

    class Homely(Kept):
        async def accept_session(self, session: AgentSession, how: str) -> None:
            if how == "load":
                raise RequestFailed(f"not in {session.cwd}")

    async def look(turn: Turn) -> None:
        seen.append(turn.session.cwd)

    async with wire_client(Homely([look])) as peer:
        session = await begin_session(peer, 1)
        answer = await peer.call("session/load", {"sessionId": session, "cwd": "/other", "mcpServers": []})
        await turn(peer, 1, session, "a")

    assert answer["error"]["message"] == "not in /other"
    assert seen == ["/project"]


async def test_a_prompt_that_comes_while_a_session_is_opened_waits_for_that(version: int) -> None:
    story: list[str] = []
    go_on = asyncio.Event()

    class Slow(Kept):
        async def session_opened(self, session: AgentSession, how: str) -> None:
            if how == "load":
                await go_on.wait()
                story.append("opened")

    async def note(turn: Turn) -> None:
        story.append(turn.text)

    agent = Slow(["one"], [note])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, version)
        method = "session/load" if version == 1 else "session/resume"
        more = {"mcpServers": []} if version == 1 else {"replayFrom": {"type": "start"}}
        opening = await peer.ask(method, {"sessionId": session, "cwd": "/project", **more})
        prompt = await ask(peer, session, "b")
        await peer.quiet()
        before = list(story)
        go_on.set()
        await peer.answer_to(opening)
        reason = await wait_for_stop(peer, version, prompt)

    assert (before, story, reason) == ([], ["opened", "b"], "end_turn")


async def test_a_prompt_for_a_session_that_does_not_open_is_cancelled(version: int) -> None:
    go_on = asyncio.Event()

    class Slow(Kept):
        async def session_opened(self, session: AgentSession, how: str) -> None:
            if how == "resume":
                await go_on.wait()
                raise RequestFailed("no")

    agent = Slow(["one"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
    async with wire_client(agent) as peer:
        await hello(peer, version)
        more = {"mcpServers": []}
        opening = await peer.ask("session/resume", {"sessionId": session, "cwd": "/project", **more})
        prompt = await ask(peer, session, "b")
        await peer.quiet()
        go_on.set()
        refused = await peer.answer_to(opening)
        answer = await peer.answer_to(prompt)

    assert refused["error"]["message"] == "no"
    assert answer.get("result") == {"stopReason": "cancelled"} if version == 1 else answer["error"]["code"] == -32800

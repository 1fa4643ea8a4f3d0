"""Logging in and out: demanded by an agent, carried out by a client, and what was refused done again."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import Link
from support.wire_client import ask, begin_session, hello, turn

from accord import (
    Account,
    Agent,
    AgentSession,
    AuthMethod,
    AuthRequired,
    AuthStatus,
    CapabilityError,
    Client,
    RequestFailed,
    Turn,
)
from accord.testing import wire_client

KEY = AuthMethod(id="key", name="API key", description="Paste it")
SSO = AuthMethod(id="sso", name="Single sign-on")
SHELL = AuthMethod(id="shell", name="In a terminal", kind="terminal", args=["login"], env={"A": "1"})


class Gated(Agent):
    """Opens no session, or takes no prompt, before somebody has logged in."""

    auth_methods = (KEY, SSO, SHELL)
    where = "session"

    def __init__(self) -> None:
        self.user: str | None = None

    async def new_session(self, session: AgentSession) -> None:
        if self.where == "session" and self.user is None:
            raise AuthRequired("log in first")

    async def accept_prompt(self, turn: Turn) -> None:
        if self.where == "prompt" and self.user is None:
            raise AuthRequired("log in first")

    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"Hello, {self.user}")

    async def login(self, method_id: str, client: Client) -> None:
        if method_id == "sso":
            raise RequestFailed("the identity provider is down", code=-31000)
        self.user = method_id

    async def logout(self) -> None:
        self.user = None


class GatedAtPrompt(Gated):
    where = "prompt"


@pytest.mark.feature("login and logout", "agent", "client")
@pytest.mark.req("V1-AUTH-08", "V1-AUTH-09", "V1-AUTH-10", "V1-AUTH-04", "V2-AUTH-08")
async def test_a_session_that_needs_a_login_starts_after_it(link: Link) -> None:
    offered: list[str] = []

    def choose(methods: list[AuthMethod]) -> str:
        offered.extend(method.id for method in methods)
        return "key"

    async with link(Gated(), login=choose) as client:
        session = await client.new_session()
        turn = await session.prompt("hi")

    assert offered == ["key", "sso"]
    assert turn.text == "Hello, key"


@pytest.mark.req("V1-AUTH-10", "V1-AUTH-24", "V2-AUTH-10", "V2-AUTH-08", "V2-PROMPT-11")
async def test_a_prompt_that_needs_a_login_is_sent_again_after_it(link: Link) -> None:
    async with link(GatedAtPrompt(), login=lambda methods: methods[0]) as client:
        session = await client.new_session()
        turn = await session.prompt("hi")

    assert turn.text == "Hello, key"
    said = [item.text for item in session.transcript.timeline if getattr(item, "role", "") == "user"]
    assert said == ["hi"]


@pytest.mark.req("V1-AUTH-08")
async def test_without_a_way_to_log_in_the_demand_reaches_the_caller(link: Link) -> None:
    async with link(Gated()) as client:
        with pytest.raises(AuthRequired, match="log in first"):
            await client.new_session()
        await client.login("key")
        session = await client.new_session()
        assert (await session.prompt("hi")).text == "Hello, key"


async def test_a_user_who_gives_up_is_not_asked_twice(link: Link) -> None:
    asked: list[int] = []

    async def give_up(methods: list[AuthMethod]) -> None:
        asked.append(len(methods))

    async with link(GatedAtPrompt(), login=give_up) as client:
        session = await client.new_session()
        with pytest.raises(AuthRequired):
            await session.prompt("hi")

    assert asked == [2]


async def test_a_login_that_fails_says_why(link: Link) -> None:
    async with link(GatedAtPrompt(), login=lambda methods: "sso") as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="identity provider is down"):
            await session.prompt("hi")
        with pytest.raises(RequestFailed, match="identity provider is down"):
            await client.login("sso")


async def test_a_login_is_tried_once_for_each_call(link: Link) -> None:
    class Forgetful(GatedAtPrompt):
        async def login(self, method_id: str, client: Client) -> None: ...

    tries: list[int] = []

    def choose(methods: list[AuthMethod]) -> str:
        tries.append(1)
        return "key"

    async with link(Forgetful(), login=choose) as client:
        with pytest.raises(AuthRequired):
            await (await client.new_session()).prompt("hi")

    assert tries == [1]


@pytest.mark.feature("login and logout", "agent", "client")
@pytest.mark.req("V1-AUTH-20", "V1-AUTH-21", "V1-AUTH-23", "V2-AUTH-07", "V2-AUTH-09")
async def test_after_logging_out_one_must_log_in_again(link: Link) -> None:
    async with link(Gated()) as client:
        await client.login()
        session = await client.new_session()
        await client.logout()
        running = await session.prompt("still me?")
        with pytest.raises(AuthRequired):
            await client.new_session()

    assert running.text == "Hello, None"


@pytest.mark.req("V1-AUTH-04", "V1-AUTH-05", "V2-AUTH-06", "V2-AUTH-02", "V1-AUTH-19")
async def test_a_login_or_logout_that_was_not_offered_is_not_sent(link: Link, version: int) -> None:
    class Open(Agent):
        async def prompt(self, turn: Turn) -> None: ...

    async with link(Gated()) as client:
        for method in ("unknown", "shell", SHELL):
            with pytest.raises(CapabilityError):
                await client.login(method)
    async with link(Open()) as client:
        with pytest.raises(CapabilityError):
            await client.login()
        with pytest.raises(CapabilityError):
            await client.logout()


@pytest.mark.req("V1-AUTH-01", "V1-AUTH-02", "V1-AUTH-11", "V2-AUTH-04", "V2-AUTH-11", "V2-AUTH-14", "V1-AUTH-12")
async def test_login_methods_are_offered_and_terminal_logins_only_to_clients_with_a_terminal(version: int) -> None:
    async with wire_client(Gated()) as peer:
        plain = await hello(peer, version)
    async with wire_client(Gated()) as peer:
        able = await hello(peer, version, {"auth": {"terminal": True if version == 1 else {}}})

    id, tag = ("id", {}) if version == 1 else ("methodId", {"type": "agent"})
    assert plain["authMethods"] == [
        {**tag, id: "key", "name": "API key", "description": "Paste it"},
        {**tag, id: "sso", "name": "Single sign-on"},
    ]
    env: Any = {"A": "1"} if version == 1 else [{"name": "A", "value": "1"}]
    assert able["authMethods"][2] == {
        "type": "terminal",
        id: "shell",
        "name": "In a terminal",
        "args": ["login"],
        "env": env,
    }


@pytest.mark.req("V1-AUTH-06", "V1-AUTH-07", "V1-AUTH-05", "V2-AUTH-01", "V2-AUTH-06", "V2-AUTH-07", "V2-AUTH-03")
async def test_a_login_is_answered_with_nothing_and_an_unknown_one_refused(version: int) -> None:
    log_in, log_out = ("authenticate", "logout") if version == 1 else ("auth/login", "auth/logout")
    agent = Gated()
    async with wire_client(agent) as peer:
        await hello(peer, version)
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": []})
        unknown = await peer.call(log_in, {"methodId": "x"})
        by_terminal = await peer.call(log_in, {"methodId": "shell"})
        logged_in = await peer.call(log_in, {"methodId": "key"})
        begun = await peer.call("session/new", {"cwd": "/", "mcpServers": []})
        logged_out = await peer.call(log_out, {"_meta": {"why": "bye"}})
        again = await peer.call("session/new", {"cwd": "/", "mcpServers": []})

    assert refused["error"]["code"] == again["error"]["code"] == -32000
    assert unknown["error"]["code"] == by_terminal["error"]["code"] == -32602
    assert logged_in["result"] == logged_out["result"] == {}
    assert "sessionId" in begun["result"]


@pytest.mark.req("V2-AUTH-01")
async def test_in_version_2_an_agent_with_logins_has_a_logout_whether_it_was_written_or_not() -> None:
    class NoLogout(Agent):
        auth_methods = (KEY,)

        async def prompt(self, turn: Turn) -> None: ...

    async with wire_client(NoLogout()) as peer:
        await hello(peer, 2)
        assert (await peer.call("auth/logout", {}))["result"] == {}


@pytest.mark.req("V2-PROMPT-11", "V2-PROMPT-09", "V1-AUTH-08")
async def test_a_prompt_that_needs_a_login_is_refused_and_leaves_no_trace(version: int) -> None:
    agent = GatedAtPrompt()
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        refused = await peer.answer_to(await ask(peer, session, "hi"))
        before = list(peer.updates)
        agent.user = "Ada"
        await turn(peer, version, session, "hi")

    assert refused["error"]["code"] == -32000
    assert before == []


@pytest.mark.req("V1-AUTH-26", "V1-AUTH-27", "V1-AUTH-28", "V1-AUTH-32", "V2-AUTH-18", "V2-AUTH-19", "V2-AUTH-20")
async def test_the_login_state_is_offered_and_can_be_queried(link: Link) -> None:
    state = "unauthenticated"

    class Telling(Gated):
        unstable = True

        async def auth_status(self) -> AuthStatus:
            return AuthStatus(state=state, accounts=[Account(label="ada@example.com", active=True)])

        async def prompt(self, turn: Turn) -> None:
            await turn.client.set_auth_status(AuthStatus(state="authenticated"))

    async with link(Telling(), unstable=True, login=lambda methods: "key") as client, client.events() as events:
        before = await client.auth_status()
        session = await client.new_session()
        await session.prompt("hi")
        told = await anext(events)
        state = "_half"
        unknown = await client.auth_status()
    async with link(Gated(), unstable=True) as client:
        with pytest.raises(CapabilityError):
            await client.auth_status()
    async with link(Telling()) as client:
        with pytest.raises(CapabilityError, match="unstable"):
            await client.auth_status()

    assert before == AuthStatus(state="unauthenticated", accounts=[Account(label="ada@example.com", active=True)])
    assert unknown.state == "unknown"
    assert told == AuthStatus(state="authenticated")


@pytest.mark.req("V1-AUTH-33")
async def test_a_login_status_is_sent_again_only_if_it_has_changed(link: Link) -> None:
    told: list[Any] = []
    out, ada = {"state": "unauthenticated", "accounts": []}, {"state": "authenticated", "accounts": [{"label": "ada"}]}

    class Telling(Agent):
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            for status in (out, out, ada, dict(reversed(ada.items())), out):
                await turn.notify("auth/status_update", status)

    async with link(Telling(), unstable=True, extensions={"auth/status_update": told.append}) as client:
        for _ in range(2):  # the client's, not the session's
            await (await client.new_session()).prompt("hi")

    assert told == [out, ada, out, ada, out]


@pytest.mark.req("V1-AUTH-33")
async def test_the_answer_to_a_query_counts_as_the_last_login_status_sent(link: Link) -> None:
    out, ada = AuthStatus(state="unauthenticated"), AuthStatus(state="authenticated", accounts=[Account(label="ada")])
    now = out

    class Telling(Agent):
        unstable = True

        async def auth_status(self) -> AuthStatus:
            return now

        async def prompt(self, turn: Turn) -> None:
            await turn.client.set_auth_status(ada if turn.text == "in" else out)

    async with link(Telling(), unstable=True) as client, client.events() as events:
        session = await client.new_session()
        answered = await client.auth_status()
        await session.prompt("out")  # the client knows
        await session.prompt("in")
        told = [await anext(events)]
        assert await client.auth_status() == out  # asked for, so the client believes this now
        await session.prompt("in")
        told.append(await anext(events))

    assert answered == out
    assert told == [ada, ada]

"""The first exchange, as a client begins it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from accord import AuthRequired, CapabilityError, ProtocolError, VersionError, Workspace, connect
from accord.client.agent import ConnectedAgent
from accord.model.requests import Implementation
from accord.testing import ScriptedClient, WirePeer, wire_agent
from accord.transports.memory import pair

V1 = {"protocolVersion": 1, "agentInfo": {"name": "a", "version": "0"}, "agentCapabilities": {}}
V2 = {"protocolVersion": 2, "info": {"name": "a", "version": "0"}, "capabilities": {}}


class Meeting:
    """A client that says hello to an agent played by hand."""

    def __init__(self, **options: Any) -> None:
        ours, theirs = pair()
        self.peer = WirePeer(ours)
        self.connecting = asyncio.ensure_future(self._connect(theirs, options))

    async def _connect(self, transport: Any, options: dict[str, Any]) -> ConnectedAgent:
        return await connect(transport, **options)

    async def hello(self) -> dict[str, Any]:
        return await self.peer.next_call("initialize")

    async def close(self) -> None:
        if not self.connecting.done():
            self.connecting.cancel()
        elif self.connecting.exception() is None:
            await self.connecting.result().close()
        await self.peer.transport.close()


@pytest.mark.parametrize(
    "answer, why",
    [
        ({**V2, "info": {"name": "x"}}, "info.version is missing"),
        ({**V2, "info": {"name": 5, "version": "1"}}, "info.name is a number"),
        ({**V1, "agentInfo": {"name": "x"}, "protocolVersion": "one"}, "protocolVersion must be an integer"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_an_error_that_callers_can_catch(answer: Any, why: str) -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.reply(await meeting.hello(), answer)
    with pytest.raises(ProtocolError, match=why):
        await meeting.connecting
    await meeting.close()


@pytest.mark.req("V1-INIT-03")
@pytest.mark.parametrize("answer", [{**V1, "protocolVersion": 1.0}, {**V2, "protocolVersion": 2.0}])
async def test_a_version_may_be_written_with_a_fraction_that_is_zero(answer: Any) -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.reply(await meeting.hello(), answer)
    agent = await meeting.connecting
    await meeting.close()

    assert agent.version == answer["protocolVersion"]


@pytest.mark.req("V1-INIT-01", "V1-INIT-02", "V1-INIT-04", "V1-INIT-16", "V1-INIT-26", "V1-SETUP-01", "V1-PROMPT-01")
async def test_in_version_1_the_first_words_say_who_one_is_and_what_one_has() -> None:
    meeting = Meeting(info=Implementation(name="ed", version="3", title="The Editor"))
    hello = await meeting.hello()
    await meeting.peer.reply(hello, V1)
    await meeting.connecting
    await meeting.close()

    assert hello["params"] == {
        "protocolVersion": 1,
        "clientInfo": {"name": "ed", "version": "3", "title": "The Editor"},
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "_meta": {"terminal_output": True},
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        },
    }
    assert [message["method"] for message in meeting.peer.received] == ["initialize"]


@pytest.mark.req("V2-INIT-01", "V2-INIT-22", "V2-INIT-23", "V2-SETUP-01")
async def test_in_version_2_the_first_words_have_other_names() -> None:
    meeting = Meeting(versions={2}, elicitation=lambda question: None)
    hello = await meeting.hello()
    await meeting.peer.reply(hello, V2)
    await meeting.connecting
    await meeting.close()

    assert hello["params"]["protocolVersion"] == 2
    assert hello["params"]["capabilities"] == {"elicitation": {"form": {}, "url": {}}}
    assert set(hello["params"]) == {"protocolVersion", "info", "capabilities"}


async def test_a_client_of_both_versions_says_both() -> None:
    meeting = Meeting(versions={1, 2}, workspace=ScriptedClient())
    hello = await meeting.hello()
    await meeting.close()

    assert hello["params"]["protocolVersion"] == 2
    assert hello["params"]["info"] == hello["params"]["clientInfo"]
    assert hello["params"]["capabilities"] == {}
    assert hello["params"]["clientCapabilities"]["terminal"] is True


@pytest.mark.req("V1-INIT-16", "V1-ELIC-01", "V1-TERM-02", "V1-AUTH-12")
async def test_capabilities_follow_from_what_was_given_to_connect() -> None:
    class OnlyReads(Workspace):
        async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
            return ""

    class HalfATerminal(OnlyReads):
        async def create_terminal(self, session_id: str, command: Any) -> str:
            return ""

    meeting = Meeting(workspace=HalfATerminal(), elicitation=lambda question: None, unstable=True)
    told = (await meeting.hello())["params"]["clientCapabilities"]
    await meeting.close()

    assert told["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert told["terminal"] is False
    assert told["elicitation"] == {"form": {}, "url": {}}
    assert (told["plan"], told["subagents"]) == ({}, {})
    assert "auth" not in told


@pytest.mark.req("V1-INIT-10", "V2-INIT-07", "V2-INIT-08")
@pytest.mark.parametrize(
    "answer",
    [
        {"protocolVersion": 7, "info": {"name": "a", "version": "0"}},
        {"protocolVersion": 0},
        {"protocolVersion": "1"},
        {},
        [],
        None,
    ],
)
async def test_an_answer_of_a_version_that_is_not_ours_ends_the_connection(answer: Any) -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.reply(await meeting.hello(), answer)
    with pytest.raises(VersionError, match="initialize"):
        await meeting.connecting
    await asyncio.wait_for(meeting.peer.ended.wait(), 300)
    await meeting.close()


async def test_an_answer_above_what_was_asked_is_refused() -> None:
    meeting = Meeting(versions={1})
    await meeting.peer.reply(await meeting.hello(), V2)
    with pytest.raises(VersionError, match="version 2"):
        await meeting.connecting
    await meeting.close()


@pytest.mark.parametrize("number", [1, 2])
async def test_an_agent_that_repeats_the_number_is_known_by_its_shape(number: int) -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.reply(await meeting.hello(), {**V1, "protocolVersion": number})
    client = await meeting.connecting
    assert client.version == 1
    await meeting.close()


async def test_a_version_that_was_not_offered_is_rejected() -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.reply(await meeting.hello(), {**V1, "protocolVersion": 99})
    with pytest.raises(VersionError, match="version 99, this client 1 and 2"):
        await meeting.connecting
    await meeting.close()


@pytest.mark.req("V2-INIT-06")
async def test_an_agent_that_names_its_versions_is_asked_again_once() -> None:
    meeting = Meeting(versions={1, 2})
    first = await meeting.hello()
    await meeting.peer.refuse(first, -32022, "no", {"requested": 2, "supported": [1, 0]})
    second = await meeting.hello()
    await meeting.peer.reply(second, V1)
    client = await meeting.connecting
    assert client.version == 1
    await meeting.close()

    assert [hello["params"]["protocolVersion"] for hello in (first, second)] == [2, 1]


@pytest.mark.parametrize("data", [{"supported": [7]}, {"supported": [2]}, {}, None])
async def test_an_agent_without_a_common_version_is_not_asked_again(data: Any) -> None:
    meeting = Meeting(versions={1, 2})
    await meeting.peer.refuse(await meeting.hello(), -32022, "no", data)
    with pytest.raises(VersionError, match=r"none of our protocol versions \(1 and 2\)"):
        await meeting.connecting
    await meeting.close()


@pytest.mark.req("V1-INIT-06", "V1-INIT-12", "V1-INIT-18", "V1-INIT-20", "V1-INIT-27")
async def test_what_an_agent_does_not_say_it_does_not_have() -> None:
    hello = {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": "yes", "promptCapabilities": {"image": 1}, "future": {}, "auth": None},
    }
    async with wire_agent(1, hello=hello) as (_, client):
        offers = client.offers

    assert (offers.load, offers.image, offers.list, offers.logout, offers.auth_methods) == (
        False,
        False,
        False,
        False,
        [],
    )
    assert offers.info is None
    assert offers.mcp == frozenset({"stdio"})
    assert client.name == "the in-memory peer"


@pytest.mark.req("V1-INIT-06")
async def test_an_agent_is_called_by_its_title_else_by_its_name() -> None:
    for info, name in (({"name": "a", "version": "0"}, "a"), ({"name": "a", "version": "0", "title": "A!"}, "A!")):
        async with wire_agent(1, hello={"protocolVersion": 1, "agentInfo": info}) as (_, client):
            assert client.name == name


@pytest.mark.req("V2-INIT-14", "V2-INIT-18", "V2-INIT-15")
async def test_in_version_2_an_agent_without_sessions_is_not_asked_for_one() -> None:
    async with wire_agent(2, hello=V2) as (peer, client):
        for asked in (client.new_session(), client.load_session("x"), client.resume_session("x")):
            with pytest.raises(CapabilityError, match="nothing was sent"):
                await asked
        with pytest.raises(CapabilityError):
            async for _ in client.list_sessions():
                pass

    assert [message["method"] for message in peer.received] == ["initialize"]


@pytest.mark.req("V1-AUTH-02", "V1-AUTH-03", "V2-AUTH-05", "V2-AUTH-04")
async def test_ways_to_log_in_of_any_kind_are_kept(version: int) -> None:
    id = "id" if version == 1 else "methodId"
    methods = [
        {id: "plain", "name": "Plain"},
        {id: "old", "name": "Old", "type": "env_var", "varName": "KEY"},
        {id: "own", "name": "Own", "type": "_sso"},
        {id: "shell", "name": "Shell", "type": "terminal", "args": ["login"]},
        {"name": "broken"},
        7,
    ]
    hello = {**(V1 if version == 1 else V2), "authMethods": methods}
    async with wire_agent(version, hello=hello) as (_, client):
        known = [(method.id, method.kind) for method in client.auth_methods]

    kinds = {1: ["agent", "agent", "agent", "terminal"], 2: ["agent", "env_var", "_sso", "terminal"]}[version]
    assert known == list(zip(["plain", "old", "own", "shell"], kinds, strict=True))


@pytest.mark.parametrize(
    ("method", "read"),
    [
        ({"_meta": {"terminal-auth": {"command": "x", "args": ["login"]}}}, ("terminal", "x", ["login"], {})),
        ({"_meta": {"terminal-auth": {"command": "x", "env": {"A": "1"}}}}, ("terminal", "x", [], {"A": "1"})),
        ({"type": "terminal", "_meta": {"terminal-auth": {"command": "x"}}}, ("terminal", "x", [], {})),
        # What the protocol itself says counts first.
        (
            {"type": "terminal", "args": ["-l"], "_meta": {"terminal-auth": {"command": "x"}}},
            ("terminal", None, ["-l"], {}),
        ),
        ({"_meta": {"terminal-auth": {"args": ["login"]}}}, ("agent", None, [], {})),
        ({"_meta": {"terminal-auth": True}}, ("agent", None, [], {})),
    ],
)
async def test_a_login_by_a_command_in_the_metadata_is_a_terminal_login(method: Any, read: Any) -> None:
    hello = {**V1, "authMethods": [{"id": "m", "name": "M", **method}]}
    async with wire_agent(1, hello=hello) as (_, client):
        (found,) = client.auth_methods
    assert (found.kind, found.command, found.args, found.env) == read


async def test_terminal_logins_are_declared_and_chosen_only_by_clients_that_can_run_them() -> None:
    async def run(method: Any) -> bool:
        return True

    for terminal_login in (False, run):
        meeting = Meeting(terminal_login=terminal_login, login=lambda methods: methods[0])
        hello = await meeting.hello()
        own = {"id": "m", "name": "M", "_meta": {"terminal-auth": {"command": "x"}}}
        await meeting.peer.reply(hello, {**V1, "authMethods": [own]})
        client = await meeting.connecting
        declared = hello["params"]["clientCapabilities"]["_meta"].get("terminal-auth", False)
        assert declared is bool(terminal_login)
        assert [each.id for each in client.usable_logins] == (["m"] if terminal_login else [])
        if not terminal_login:
            assert await client.logins.log_in_again() is False
        await meeting.close()


async def test_the_login_that_was_chosen_is_run_though_another_one_has_its_id() -> None:
    ran: list[Any] = []

    async def run(method: Any) -> bool:
        ran.append(method.command)
        return False

    meeting = Meeting(terminal_login=run)
    hello = await meeting.hello()
    own = [
        {"id": "m", "name": "M", "_meta": {"terminal-auth": {"command": command}}} for command in ("first", "second")
    ]
    await meeting.peer.reply(hello, {**V1, "authMethods": own})
    client = await meeting.connecting
    with pytest.raises(AuthRequired):
        await client.login(client.auth_methods[1])
    await meeting.close()

    assert ran == ["second"]

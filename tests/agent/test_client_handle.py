"""The handle of a connected client: questions, notifications and requests outside of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support.link import Link
from support.wire_client import hello

from accord import (
    Account,
    Agent,
    AuthMethod,
    AuthRequired,
    AuthStatus,
    CapabilityError,
    Client,
    Elicitation,
    InvalidValue,
    LocalProtocolError,
    PageDone,
    Reply,
    Turn,
    UsageError,
)
from accord.testing import wire_client

PAGE = "https://example.com/device"
REGION = {"properties": {"region": {"type": "string", "enum": ["eu", "us"]}}, "required": ["region"]}
META = {"example.org/flow": 1}


class Device(Agent):
    """Logs in with a form and a page."""

    unstable = True
    auth_methods = (AuthMethod(id="device", name="Device"),)

    def __init__(self) -> None:
        self.answers: list[Reply] = []

    async def prompt(self, turn: Turn) -> None: ...

    async def login(self, method_id: str, client: Client) -> None:
        self.answers.append(await client.ask("Which region?", REGION, meta=META))
        self.answers.append(await client.ask("Enter the code ABCD there", url=PAGE, id="page-1"))
        if not self.answers[-1].accepted:
            raise AuthRequired("the page wasn't opened")
        await client.page_done("page-1")
        await client.set_auth_status(AuthStatus(state="authenticated", accounts=[Account(label="ada")]))

    async def auth_status(self) -> AuthStatus:
        return AuthStatus(state="unknown")


@pytest.mark.req("V1-AUTH-30")
async def test_accounts_that_look_alike_stay_apart(link: Link) -> None:
    twins = [
        Account(label="ada", email="ada@example.com", active=True),
        Account(label="ada", email="ada@example.com", organization="example"),
        Account(label="ada", email="ada@example.com", active=True),
    ]

    class Accounts(Device):
        async def auth_status(self) -> AuthStatus:
            return AuthStatus(state="authenticated", accounts=twins)

    async with link(Accounts(), unstable=True) as client:
        assert (await client.auth_status()).accounts == twins


@pytest.mark.feature("questions during a login", "agent", "client")
@pytest.mark.feature("login status", "agent", "client")
@pytest.mark.feature("finished pages", "agent", "client")
@pytest.mark.req("V1-ELIC-05", "V1-ELIC-21", "V1-ELIC-22", "V1-AUTH-32", "V2-AUTH-20")
async def test_a_login_may_ask_open_a_page_and_report_the_status(link: Link) -> None:
    asked: list[Elicitation] = []

    def answer(question: Elicitation) -> Reply:
        asked.append(question)
        return Reply(action="accept", content={"region": "eu"} if question.mode == "form" else None, meta=META)

    agent = Device()
    async with link(agent, elicitation=answer, unstable=True) as client, client.events() as events:
        await client.login("device")
        told = [await anext(events), await anext(events)]

    assert [(question.mode, question.session_id) for question in asked] == [("form", None), ("url", None)]
    assert asked[0].request_id is not None and asked[0].request_id == asked[1].request_id
    assert asked[0].meta == META
    assert agent.answers[0] == Reply(action="accept", content={"region": "eu"}, meta=META)
    assert told == [PageDone("page-1"), AuthStatus(state="authenticated", accounts=[Account(label="ada")])]


async def test_a_login_fails_if_the_user_declines(link: Link) -> None:
    async with link(Device(), elicitation=lambda question: Reply(action="decline")) as client:
        with pytest.raises(AuthRequired, match="wasn't opened"):
            await client.login("device")


@pytest.mark.feature("forms only, pages only", "agent", "client")
@pytest.mark.req("V1-ELIC-02")
@pytest.mark.parametrize(("modes", "missing"), [(["form"], "pages"), (["url"], "forms"), ([], "forms")])
async def test_nothing_is_asked_that_the_client_did_not_offer(link: Link, modes: list[str], missing: str) -> None:
    problems: list[str] = []
    asked: list[str] = []

    class Trying(Device):
        async def login(self, method_id: str, client: Client) -> None:
            try:
                await super().login(method_id, client)
            except CapabilityError as error:
                problems.append(str(error))

    def answer(question: Elicitation) -> dict[str, Any]:
        asked.append(question.mode)
        return {"region": "us"}

    async with link(Trying(), elicitation=answer, elicitation_modes=modes) as client:
        await client.login("device")

    assert len(problems) == 1 and missing in problems[0]
    assert asked == (["form"] if modes == ["form"] else [])


async def test_an_answer_that_does_not_fit_the_form_is_invalid(version: int) -> None:
    agent = Device()
    log_in = "authenticate" if version == 1 else "auth/login"
    async with wire_client(agent) as peer:
        await hello(peer, version, {"elicitation": {"form": {}, "url": {}}})
        request = await peer.ask(log_in, {"methodId": "device"})
        form = await peer.next_call("elicitation/create")
        await peer.reply(form, {"action": "accept", "content": {"region": "mars"}})
        page = await peer.next_call("elicitation/create")
        await peer.reply(page, {"action": "cancel"})
        refused = await peer.answer_to(request)

    assert form["params"]["requestId"] == page["params"]["requestId"]
    assert "sessionId" not in form["params"]
    assert [reply.action for reply in agent.answers] == ["invalid", "cancel"]
    assert refused["error"]["code"] == -32000


@pytest.mark.feature("client handle outside sessions", "agent", "client")
async def test_an_agent_may_notify_and_request_outside_of_sessions(link: Link) -> None:
    clients: list[Client] = []
    noted: list[Any] = []
    gone: list[Client] = []

    class Reporting(Agent):
        async def on_connect(self, client: Client) -> None:
            clients.append(client)
            await client.notify("_example.org/early", {"n": 1})

        async def on_disconnect(self, client: Client) -> None:
            gone.append(client)

        async def prompt(self, turn: Turn) -> None:
            assert turn.client is clients[0]

    extensions: dict[str, Callable[[Any], Any]] = {
        "_example.org/early": noted.append,
        "_example.org/city": lambda params: {"city": "Ghent"},
    }
    async with link(Reporting(), extensions=extensions, meta=META) as agent:
        answer = await clients[0].request("_example.org/city")
        await (await agent.new_session()).prompt("hi")

    assert (noted, answer) == ([{"n": 1}], {"city": "Ghent"})
    assert clients[0].meta == META
    assert clients[0].info is not None and clients[0].info.name == "accord"
    assert gone == clients


async def test_requests_wait_for_the_first_response(link: Link) -> None:
    problems: list[str] = []

    class Hasty(Agent):
        async def on_connect(self, client: Client) -> None:
            for request in (lambda: client.request("_x"), lambda: client.ask("?", REGION)):
                with pytest.raises(LocalProtocolError) as raised:
                    await request()
                problems.append(str(raised.value))

        async def prompt(self, turn: Turn) -> None: ...

    async with link(Hasty()):
        pass

    assert all("before initialize is answered" in problem for problem in problems) and len(problems) == 2


async def test_a_question_that_no_request_waits_for_is_refused(link: Link) -> None:
    asking: list[asyncio.Task[Reply]] = []
    answered = asyncio.Event()

    class Late(Device):
        async def login(self, method_id: str, client: Client) -> None:
            async def ask_later() -> Reply:
                await answered.wait()
                return await client.ask("Which region?", REGION)

            asking.append(asyncio.ensure_future(ask_later()))

    async with link(Late(), elicitation=lambda question: {"region": "eu"}) as client:
        await client.login("device")
        answered.set()
        with pytest.raises(LocalProtocolError, match="while a request of the client is handled"):
            await asking[0]


async def test_a_status_is_checked_and_needs_a_method_that_returns_it(link: Link) -> None:
    class Silent(Agent):
        unstable = True

        async def prompt(self, turn: Turn) -> None:
            with pytest.raises(InvalidValue, match=r"status\.state is 'logged in'"):
                await turn.client.set_auth_status(AuthStatus(state="logged in"))
            with pytest.raises(UsageError, match="no auth_status method"):
                await turn.client.set_auth_status(AuthStatus(state="unknown"))

    async with link(Silent(), unstable=True) as client:
        assert (await (await client.new_session()).prompt("hi")).stop_reason == "end_turn"

"""Questions to the user, by the means that the client has: a form, a choice among options, or plain text."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_client import ask, begin_session, hello, states, until_states

from accord import Agent, AgentSession, CapabilityError, InvalidValue, Reply, Turn
from accord.model.content import TextContent
from accord.model.forms import fits
from accord.model.requests import Implementation
from accord.testing import ScriptedAgent, ScriptedClient, wire_client

NAME = {"properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}
COLOR = {"properties": {"color": {"type": "string", "enum": ["red", "green"]}}}
FORMS = {"elicitation": {"form": {}}}


def make_asking_agent(replies: list[Reply], message: str, schema: dict[str, Any], **how: Any) -> ScriptedAgent:
    async def step(turn: Turn) -> None:
        replies.append(await turn.ask(message, schema, **how))

    return script_agent(step)


@pytest.mark.feature("forms", "agent", "client")
@pytest.mark.req("V1-ELIC-16", "V1-ELIC-17", "V1-ELIC-18", "V2-ELIC-01")
async def test_a_form_is_shown_where_the_client_has_forms(link: Link) -> None:
    replies: list[Reply] = []
    client = ScriptedClient(replies=[{"name": "Ada"}])
    async with link(make_asking_agent(replies, "Who are you?", NAME), client) as agent:
        await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action="accept", content={"name": "Ada"})]
    (question,) = client.elicited
    assert (question.message, question.mode) == ("Who are you?", "form")
    assert question.schema["required"] == ["name"]
    assert client.asked == []


@pytest.mark.req("V1-ELIC-16", "V1-ELIC-19")
@pytest.mark.parametrize(("said", "action"), [(Reply(action="decline"), "decline"), (None, "cancel")])
async def test_declining_and_cancelling_are_not_acceptance(link: Link, said: Any, action: str) -> None:
    replies: list[Reply] = []
    async with link(make_asking_agent(replies, "Who?", NAME), ScriptedClient(replies=[said])) as agent:
        await (await agent.new_session()).prompt("go")

    assert replies[0].action == action
    assert not replies[0].accepted


@pytest.mark.req("V1-ELIC-02", "V1-ELIC-04", "V1-ELIC-01")
async def test_a_single_choice_is_asked_as_a_permission_where_there_are_no_forms(link: Link) -> None:
    replies: list[Reply] = []
    client = ScriptedClient(permissions=["1"])
    async with link(make_asking_agent(replies, "Which color?", COLOR), client) as agent:
        await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action="accept", content={"color": "green"})]
    assert [option.name for option in client.asked[0].options] == ["red", "green", "Cancel"]
    assert client.asked[0].title == "Which color?"
    assert client.asked[0].tool_call is not None
    assert client.asked[0].tool_call.content == [TextContent("1. red\n2. green")], "for clients that hide the names"


async def test_a_choice_is_said_as_text_where_options_are_named_by_their_kind(link: Link) -> None:
    replies: list[Reply] = []
    client = ScriptedClient(permissions=["1"])
    info = Implementation(name="CodeCompanion.nvim", version="1.0.0")
    async with link(make_asking_agent(replies, "Which color?", COLOR), client, info=info) as agent:
        turn = await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action="later")]
    assert turn.text == "Which color?\n\n1. red\n2. green\n\n"
    assert client.asked == []


async def test_a_choice_is_said_as_text_to_a_client_that_does_not_introduce_itself() -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Which color?", COLOR)) as peer:
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        opened = await peer.call("session/new", {"cwd": "/project", "mcpServers": []})
        prompt = {"sessionId": opened["result"]["sessionId"], "prompt": [{"type": "text", "text": "go"}]}
        assert (await peer.call("session/prompt", prompt))["result"] == {"stopReason": "end_turn"}

    assert replies == [Reply(action="later")]


@pytest.mark.parametrize(("answer", "action"), [("reject_once", "decline"), (None, "cancel")])
async def test_a_dismissed_choice_is_not_acceptance(link: Link, answer: Any, action: str) -> None:
    replies: list[Reply] = []
    async with link(make_asking_agent(replies, "Which?", COLOR), ScriptedClient(permissions=[answer])) as agent:
        await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action=action)]


@pytest.mark.parametrize(
    ("field", "chosen", "value"),
    [
        ({"type": "boolean"}, "0", True),
        ({"type": "boolean"}, "1", False),
        ({"type": "string", "oneOf": [{"const": "a", "title": "Apple"}, {"const": "b"}]}, "1", "b"),
    ],
)
async def test_choices_of_every_shape_can_be_made(link: Link, field: dict[str, Any], chosen: str, value: Any) -> None:
    replies: list[Reply] = []
    schema = {"properties": {"it": field}}
    async with link(make_asking_agent(replies, "Which?", schema), ScriptedClient(permissions=[chosen])) as agent:
        await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action="accept", content={"it": value})]


@pytest.mark.req("V1-ELIC-04", "V1-ELIC-02")
async def test_other_forms_are_sent_as_text_to_clients_without_forms(link: Link) -> None:
    replies: list[Reply] = []
    client = ScriptedClient()
    async with link(make_asking_agent(replies, "What is your name?", NAME), client) as agent:
        turn = await (await agent.new_session()).prompt("go")

    assert replies == [Reply(action="later")]
    assert turn.text == "What is your name?"
    assert client.asked == []


@pytest.mark.feature("pages", "agent", "client")
@pytest.mark.req("V1-ELIC-02", "V1-ELIC-13")
async def test_a_page_is_asked_for_only_where_the_client_opens_pages(link: Link) -> None:
    errors: list[str] = []

    async def step(turn: Turn) -> None:
        try:
            await turn.ask("Log in", url="https://example.com/login")
        except CapabilityError as error:
            errors.append(str(error))

    async with link(script_agent(step)) as agent:
        await (await agent.new_session()).prompt("go")

    assert len(errors) == 1 and "nothing was sent" in errors[0]


@pytest.mark.req("V1-ELIC-05", "V1-ELIC-06", "V2-ELIC-02", "V2-ELIC-03")
async def test_a_form_on_the_wire_is_whole_and_names_its_session_alone(version: int) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", {"required": []})) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        question = await peer.next_call("elicitation/create")
        await peer.reply(question, {"action": "accept", "content": {"name": "Ada"}})
        await until(lambda: replies)

    assert question["params"] == {
        "mode": "form",
        "message": "Who?",
        "sessionId": session,
        "requestedSchema": {"type": "object", "properties": {}, "required": []},
    }


@pytest.mark.req("V1-ELIC-14", "V1-ELIC-20", "V1-ELIC-21", "V1-ELIC-22", "V2-ELIC-09")
async def test_a_page_has_an_id_by_which_it_is_told_to_be_done(version: int) -> None:
    async def step(turn: Turn) -> None:
        reply = await turn.ask("Log in", url="https://example.com/login", id="login-1")
        assert reply.accepted
        await turn.session.page_done("login-1")
        await turn.ask("Again", url="https://example.com/more")

    async with wire_client(script_agent(step)) as peer:
        session = await begin_session(peer, version, {"elicitation": {"url": {}}})
        await ask(peer, session, "go")
        first = await peer.next_call("elicitation/create")
        await peer.reply(first, {"action": "accept"})
        done = await peer.next_call("elicitation/complete")
        second = await peer.next_call("elicitation/create")
        await peer.reply(second, {"action": "cancel"})
        await peer.quiet()

    assert first["params"]["elicitationId"] == "login-1"
    assert first["params"]["url"] == "https://example.com/login"
    assert done["params"] == {"elicitationId": "login-1"}
    assert second["params"]["elicitationId"] not in ("", "login-1")


@pytest.mark.req("V1-ELIC-14")
@pytest.mark.parametrize("url", ["not a url", "/login", "https://", ""])
async def test_a_page_without_a_valid_url_is_not_sent(version: int, url: str) -> None:
    refused: list[InvalidValue] = []

    async def step(turn: Turn) -> None:
        try:
            await turn.ask("Log in", url=url)
        except InvalidValue as error:
            refused.append(error)

    async with wire_client(script_agent(step)) as peer:
        session = await begin_session(peer, version, {"elicitation": {"url": {}}})
        await ask(peer, session, "go")
        await until(lambda: refused or [each for each in peer.received if each.get("method") == "elicitation/create"])

    assert [error.argument for error in refused] == ["url"]


@pytest.mark.req("V1-ELIC-19", "V2-ELIC-06", "V1-ELIC-08")
@pytest.mark.parametrize("answer", [{"action": "_later", "content": {"name": "x"}}, {"action": 7}, {}, None])
async def test_an_unknown_action_is_not_acceptance(version: int, answer: Any) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        await peer.reply(await peer.next_call("elicitation/create"), answer)
        await until(lambda: replies)

    assert not replies[0].accepted
    assert replies[0].content is None


@pytest.mark.req("V1-ELIC-19", "V2-ELIC-06")
@pytest.mark.parametrize("word", ["later", "invalid", "_mine"])
async def test_an_unknown_action_cancels_the_question(version: int, word: str) -> None:
    """`later` and `invalid` are what the library answers itself: a client can't say them."""
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        await peer.reply(await peer.next_call("elicitation/create"), {"action": word})
        await until(lambda: replies)

    assert replies == [Reply(action="cancel", other=word)]


@pytest.mark.req("V1-ELIC-17")
async def test_what_was_filled_in_counts_only_when_it_is_accepted(version: int) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        await peer.reply(await peer.next_call("elicitation/create"), {"action": "decline", "content": {"name": "x"}})
        await until(lambda: replies)

    assert replies == [Reply(action="decline")]


@pytest.mark.req("V1-ELIC-19")
async def test_an_error_response_is_not_acceptance(version: int) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        await peer.refuse(await peer.next_call("elicitation/create"), -32603)
        await until(lambda: replies)

    assert replies == [Reply(action="cancel")]


@pytest.mark.req("V2-ELIC-07", "V1-CANCEL-19")
async def test_a_cancelled_turn_withdraws_its_question(version: int) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        question = await peer.next_call("elicitation/create")
        if version == 2:
            assert states(peer.updates) == ["running", "requires_action"]
        await peer.tell("session/cancel", {"sessionId": session})
        withdrawn = await peer.next_call("$/cancel_request")
        if version == 2:
            await until_states(peer, "running", "requires_action", "idle")

    assert withdrawn["params"] == {"requestId": question["id"]}
    assert replies == []


@pytest.mark.req("V1-ELIC-05", "V2-ELIC-03")
async def test_before_a_session_is_known_the_question_names_the_request_that_opens_it(version: int) -> None:
    class Trusting(Agent):
        async def new_session(self, session: AgentSession) -> None:
            reply = await session.ask("Do you trust this folder?", {"properties": {"trust": {"type": "boolean"}}})
            session.data["trusted"] = bool(reply.content and reply.content["trust"])

        async def prompt(self, turn: Turn) -> None:
            await turn.say(str(turn.session.data["trusted"]))

    async with wire_client(Trusting()) as peer:
        await hello(peer, version, FORMS)
        id = await peer.ask("session/new", {"cwd": "/project", "mcpServers": []}, id="open me")
        question = await peer.next_call("elicitation/create")
        await peer.reply(question, {"action": "accept", "content": {"trust": True}})
        answer = await peer.answer_to(id)

    assert question["params"]["requestId"] == "open me"
    assert "sessionId" not in question["params"]
    assert "sessionId" in answer["result"]


async def test_a_session_that_is_not_known_yet_cannot_ask_for_permission(link: Link) -> None:
    class Hasty(Agent):
        async def new_session(self, session: AgentSession) -> None:
            await session.permit("May I?")

        async def prompt(self, turn: Turn) -> None: ...

    from accord import RequestFailed

    async with link(Hasty()) as agent:
        with pytest.raises(RequestFailed, match="doesn't know session"):
            await agent.new_session()


async def test_two_questions_may_be_open_at_once(link: Link) -> None:
    async def both(turn: Turn) -> None:
        one, two = await asyncio.gather(turn.ask("One?", NAME), turn.ask("Two?", NAME))
        await turn.say(f"{one.content} {two.content}")

    client = ScriptedClient(replies=[{"name": "1"}, {"name": "2"}])
    async with link(script_agent(both), client) as agent:
        turn = await (await agent.new_session()).prompt("go")

    assert turn.text == "{'name': '1'} {'name': '2'}"


@pytest.mark.req("V1-ELIC-12", "V2-ELIC-08")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd", 7, None]),
        ({"type": "string", "enum": ["red", "green"]}, ["red"], ["blue"]),
        ({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]}, ["r"], ["Red"]),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 3, 2.0], [0, 4, 1.5, True, "2"]),
        ({"type": "number", "maximum": 1.5}, [1.5, -2], [1.6, False, "1"]),
        ({"type": "boolean"}, [True, False], [1, "true"]),
        ({"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1}, [["x"], ["y", "x"]], [[], ["z"], "x", [1]]),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}, [["x"], []], [["X"]]),
        ({"type": "_slider"}, [{"any": "thing"}], []),
    ],
)
def test_an_answer_is_held_against_its_form(field: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    schema = {"type": "object", "properties": {"it": field}, "required": ["it"]}

    assert [value for value in good if not fits(schema, {"it": value, "more": 1})] == []
    assert [value for value in bad if fits(schema, {"it": value})] == []
    assert not fits(schema, {}) and not fits(schema, None)


@pytest.mark.req("V1-ELIC-12")
async def test_an_answer_that_does_not_fit_its_form_is_not_accepted(version: int) -> None:
    replies: list[Reply] = []
    async with wire_client(make_asking_agent(replies, "Who?", NAME)) as peer:
        session = await begin_session(peer, version, FORMS)
        await ask(peer, session, "go")
        await peer.reply(await peer.next_call("elicitation/create"), {"action": "accept", "content": {"name": ""}})
        await until(lambda: replies)

    assert (replies[0].action, replies[0].accepted) == ("invalid", False)


@pytest.mark.req("V1-ELIC-31")
async def test_an_answer_counts_only_for_the_client_that_was_asked(version: int) -> None:
    answers: dict[str, str] = {}

    class Bank(Agent):
        async def prompt(self, turn: Turn) -> None:
            reply = await turn.ask("Log in", url="https://example.com/login", id="login")
            answers[turn.text] = reply.action

    bank, pages = Bank(), {"elicitation": {"url": {}}}
    async with wire_client(bank) as ada, wire_client(bank) as mallory:
        for peer, name in ((ada, "Ada"), (mallory, "Mallory")):
            await ask(peer, await begin_session(peer, version, pages), name)
        asked_ada, asked_mallory = (
            await ada.next_call("elicitation/create"),
            await mallory.next_call("elicitation/create"),
        )
        forged = {**asked_mallory, "id": asked_ada["id"]}
        await mallory.reply(forged, {"action": "accept"})
        await mallory.reply(asked_mallory, {"action": "decline"})
        await mallory.quiet()
        await until(lambda: "Mallory" in answers)
        assert "Ada" not in answers
        await ada.reply(asked_ada, {"action": "accept"})
        await until(lambda: "Ada" in answers)

    assert answers["Ada"] == "accept"

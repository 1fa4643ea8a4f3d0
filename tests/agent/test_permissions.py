"""Asking whether something may be done: nothing but an offered option that allows is a yes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_client import ask, begin_session, kinds, states, until_states

from accord import Diff, PermissionOption, ToolCall, Turn, UsageError
from accord.agent.questions import Permission
from accord.agent.update_writer import UpdateWriter
from accord.testing import ScriptedAgent, ScriptedClient, WirePeer, wire_client
from accord.transports.base import YIELD


def make_asking_agent(answers: list[Permission], **how: Any) -> ScriptedAgent:
    """Make an agent that asks once and stores the answer."""

    async def step(turn: Turn) -> None:
        answers.append(await turn.permit("Delete everything", **how))

    return script_agent(step)


async def receive_request(peer: WirePeer, version: int, **how: Any) -> tuple[dict[str, Any], str]:
    """The agent's question on the wire, and the session it was asked in."""
    session = await begin_session(peer, version)
    await ask(peer, session, "go")
    return await peer.next_call("session/request_permission"), session


@pytest.mark.feature("permissions", "agent", "client")
@pytest.mark.req("V1-PERM-01", "V1-PERM-07", "V1-PERM-09", "V2-PERM-09", "V1-INIT-23")
async def test_yes_is_yes(link: Link) -> None:
    answers: list[Permission] = []
    client = ScriptedClient(permissions=[True])
    async with link(make_asking_agent(answers, kind="delete", always=True), client) as agent:
        turn = await (await agent.new_session()).prompt("go")

    assert answers and answers[0]
    assert answers[0].option is not None and answers[0].option.kind == "allow_once"
    assert client.asked[0].title == "Delete everything"
    assert [(call.title, call.kind, call.status) for call in turn.tool_calls] == [
        ("Delete everything", "delete", "completed")
    ]


@pytest.mark.req("V1-PERM-03", "V2-PERM-02")
async def test_the_standard_options_are_spelt_like_their_kinds_allowing_first(link: Link) -> None:
    client = ScriptedClient(permissions=["allow_always", "reject_once"])
    answers: list[Permission] = []

    async def twice(turn: Turn) -> None:
        answers.append(await turn.permit("One", always=True))
        answers.append(await turn.permit("Two"))

    async with link(script_agent(twice), client) as agent:
        await (await agent.new_session()).prompt("go")

    assert [[(o.id, o.kind) for o in question.options] for question in client.asked] == [
        [("allow_once", "allow_once"), ("allow_always", "allow_always"), ("reject_once", "reject_once")],
        [("allow_once", "allow_once"), ("reject_once", "reject_once")],
    ]
    assert [(bool(a), a.always, a.cancelled) for a in answers] == [(True, True, False), (False, False, False)]


@pytest.mark.req("V1-PERM-08", "V2-PERM-08")
@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "selected", "optionId": "reject_once"}},
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "allow_everything"}},
        {"outcome": {"outcome": "_x", "optionId": "allow_once"}},
        {"outcome": {"outcome": "selected"}},
        {},
        None,
        "allow_once",
    ],
)
async def test_anything_but_an_offered_yes_is_no(version: int, answer: Any) -> None:
    answers: list[Permission] = []
    async with wire_client(make_asking_agent(answers)) as peer:
        question, _ = await receive_request(peer, version)
        await peer.reply(question, answer)
        await until(lambda: answers)

    assert not answers[0]


@pytest.mark.req("V1-PERM-08", "V1-CANCEL-21")
@pytest.mark.parametrize("code", [-32800, -32603, -32601])
async def test_an_error_for_an_answer_is_no(version: int, code: int) -> None:
    answers: list[Permission] = []
    async with wire_client(make_asking_agent(answers)) as peer:
        question, _ = await receive_request(peer, version)
        await peer.refuse(question, code)
        await until(lambda: answers)

    assert not answers[0] and answers[0].cancelled


@pytest.mark.req("V1-PERM-02", "V1-PERM-03", "V1-PERM-11")
async def test_in_version_1_the_question_is_about_a_tool_call_that_was_announced() -> None:
    async def edit(turn: Turn) -> None:
        async with turn.tool("Edit notes", kind="edit", locations=["notes.md"]) as tool:
            await tool.permit(
                "Change notes.md?", content=[Diff.of("/project/notes.md", "a", "b")], description="Really."
            )

    async with wire_client(script_agent(edit)) as peer:
        question, session = await receive_request(peer, 1)
        await peer.reply(question, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await peer.quiet()

    assert kinds(peer.updates)[:2] == ["tool_call", "tool_call_update"]
    params = question["params"]
    assert params["sessionId"] == session
    assert [(o["optionId"], o["name"], o["kind"]) for o in params["options"]] == [
        ("allow_once", "Allow", "allow_once"),
        ("reject_once", "Reject", "reject_once"),
    ]
    call = params["toolCall"]
    assert call["toolCallId"] == peer.updates[0]["toolCallId"]
    assert (call["title"], call["kind"], call["status"]) == ("Change notes.md?", "edit", "in_progress")
    assert call["content"] == [
        {"type": "diff", "path": "/project/notes.md", "oldText": "a", "newText": "b"},
        {"type": "content", "content": {"type": "text", "text": "Really."}},
    ]
    assert call["locations"] == [{"path": "/project/notes.md"}]


@pytest.mark.req("V2-PERM-01", "V2-PERM-03", "V2-PERM-10", "V2-STATE-02", "V2-STATE-03")
async def test_in_version_2_the_request_has_its_own_title_and_the_state_shows_who_waits() -> None:
    async def edit(turn: Turn) -> None:
        async with turn.tool("Edit notes", kind="edit") as tool:
            await tool.permit("Change notes.md?", description="Really.")

    async with wire_client(script_agent(edit)) as peer:
        question, session = await receive_request(peer, 2)
        before = states(peer.updates)
        await peer.reply(question, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await until_states(peer, "running", "requires_action", "running", "idle")

    assert before == ["running", "requires_action"]
    params = question["params"]
    assert (params["sessionId"], params["title"], params["description"]) == (session, "Change notes.md?", "Really.")
    assert params["subject"]["type"] == "tool_call"
    assert params["subject"]["toolCall"]["title"] == "Edit notes"


@pytest.mark.req("V2-PERM-05", "V1-PERM-02")
async def test_a_command_line_is_asked_about_as_such(link: Link, version: int) -> None:
    client = ScriptedClient()

    async def run(turn: Turn) -> None:
        await turn.permit("Run the tests?", command="make test")

    async with link(script_agent(run), client) as agent:
        turn = await (await agent.new_session(cwd="/project")).prompt("go")

    (question,) = client.asked
    assert question.title == "Run the tests?"
    assert question.tool_call is not None and question.tool_call.kind == "execute"
    if version == 1:
        assert question.tool_call.raw_input == {"command": "make test", "cwd": "/project"}
    else:
        assert (question.command, question.cwd) == ("make test", "/project")
    assert [call.status for call in turn.tool_calls] == ["completed"]


@pytest.mark.req("V2-PERM-05")
async def test_the_question_about_a_command_names_its_call_and_terminal(link: Link, version: int) -> None:
    client = ScriptedClient()

    async def run(turn: Turn) -> None:
        terminal = turn.display_terminal("make test")
        await turn.permit("Run the tests?", command="make test", terminal=terminal)
        await terminal.exit(0)

    async with link(script_agent(run), client) as agent:
        session = await agent.new_session()
        turn = await session.prompt("go")

    (question,) = client.asked
    assert question.tool_call is not None and question.tool_call.id == turn.tool_calls[0].id
    assert question.terminal_id == (None if version == 1 else next(iter(session.transcript.terminals)))


@pytest.mark.req("V2-STATE-05")
async def test_in_version_2_the_state_changes_when_the_last_of_several_questions_is_answered() -> None:
    async def two(turn: Turn) -> None:
        await asyncio.gather(turn.permit("One"), turn.permit("Two"))

    async with wire_client(script_agent(two)) as peer:
        one, _ = await receive_request(peer, 2)
        two_ = await peer.next_call("session/request_permission")
        await peer.reply(one, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await peer.quiet()
        between = states(peer.updates)
        await peer.reply(two_, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await until_states(peer, "running", "requires_action", "running", "idle")

    assert between == ["running", "requires_action"]


@pytest.mark.req("V1-PERM-05", "V1-CANCEL-19", "V2-CANCEL-04", "V2-CANCEL-05", "V2-CANCEL-06", "V2-STATE-13")
async def test_a_cancelled_turn_withdraws_its_question_and_a_late_yes_means_nothing(version: int) -> None:
    done: list[str] = []

    async def danger(turn: Turn) -> None:
        if await turn.permit("Delete everything"):
            done.append("deleted")

    async with wire_client(ScriptedAgent([danger], ["after"])) as peer:
        question, session = await receive_request(peer, version)
        await peer.tell("session/cancel", {"sessionId": session})
        withdrawn = await peer.next_call("$/cancel_request")
        await peer.reply(question, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        await peer.quiet()
        id = await ask(peer, session, "still there?")
        await peer.answer_to(id)
        await peer.quiet()

    assert withdrawn["params"] == {"requestId": question["id"]}
    assert done == []
    calls = [update for update in peer.updates if update.get("toolCallId") and "status" in update]
    assert calls[-1]["status"] == {1: "failed", 2: "cancelled"}[version]
    assert any(update.get("content") == {"type": "text", "text": "after"} for update in peer.updates)


@pytest.mark.req("V1-PERM-11", "V2-PERM-01")
async def test_a_question_without_options_is_not_sent(link: Link) -> None:
    errors: list[str] = []

    async def ask_nothing(turn: Turn) -> None:
        try:
            await turn.permit("?", options=[])
        except ValueError as error:
            errors.append(str(error))

    async with link(script_agent(ask_nothing)) as agent:
        await (await agent.new_session()).prompt("go")

    assert errors == ["options is empty; a permission request needs at least one option"]


async def test_options_of_the_authors_own_are_offered_as_they_are(link: Link) -> None:
    answers: list[Permission] = []
    options = [
        PermissionOption(id="all", name="All files", kind="allow_once"),
        PermissionOption(id="some", name="Some files", kind="allow_once"),
        PermissionOption(id="none", name="None", kind="reject_once"),
    ]
    client = ScriptedClient(permissions=["some"])
    async with link(make_asking_agent(answers, options=options), client) as agent:
        await (await agent.new_session()).prompt("go")

    assert answers[0] and answers[0].option is not None and answers[0].option.id == "some"
    assert [option.name for option in client.asked[0].options] == ["All files", "Some files", "None"]


@pytest.mark.req("V1-MODE-08", "V1-TOOL-04")
async def test_leaving_a_mode_may_be_asked_like_any_tool_call(link: Link) -> None:
    client = ScriptedClient()

    async def leave(turn: Turn) -> None:
        async with turn.tool("Ready to code", kind="switch_mode") as tool:
            await tool.show("The plan…")
            await tool.permit()

    async with link(script_agent(leave), client) as agent:
        session = await agent.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, ToolCall)]

    assert client.asked[0].tool_call is not None and client.asked[0].tool_call.kind == "switch_mode"
    assert events[-1].status == "completed"


async def test_a_question_about_a_call_leaves_the_call_its_title(link: Link) -> None:
    titles: list[str] = []

    async def push(turn: Turn) -> None:
        async with turn.tool("git push", kind="execute") as tool:
            answer = await tool.permit("Push to main?")
            titles.append("yes" if answer else "no")

    client = ScriptedClient(permissions=[True, False])
    async with link(ScriptedAgent([push], [push]), client) as agent:
        session = await agent.new_session()
        calls = [(await session.prompt("go")).tool_calls[0] for _ in range(2)]

    assert titles == ["yes", "no"]
    assert [question.title for question in client.asked] == ["Push to main?"] * 2
    assert [call.title for call in calls] == ["git push"] * 2


async def test_in_version_1_a_changed_title_is_restored_once() -> None:
    async def push(turn: Turn) -> None:
        async with turn.tool("git push") as tool:
            await tool.permit("Push to main?")
            await tool.permit()

    async with wire_client(script_agent(push)) as peer:
        session = await begin_session(peer, 1)
        await ask(peer, session, "go")
        for _ in range(2):
            question = await peer.next_call("session/request_permission")
            await peer.reply(question, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        while "completed" not in [update.get("status") for update in peer.updates]:
            await peer.receive()

    assert [update["title"] for update in peer.updates if "title" in update] == ["git push", "git push"]


async def test_a_cancelled_question_leaves_the_call_its_title_too() -> None:
    async def push(turn: Turn) -> None:
        async with turn.tool("git push") as tool:
            await tool.permit("Push to main?")

    async with wire_client(script_agent(push)) as peer:
        session = await begin_session(peer, 1)
        prompt = await ask(peer, session, "go")
        await peer.next_call("session/request_permission")
        await peer.tell("session/cancel", {"sessionId": session})
        answer = await peer.answer_to(prompt)

    assert answer["result"] == {"stopReason": "cancelled"}
    assert [update["title"] for update in peer.updates if "title" in update][-1] == "git push"


async def test_questions_that_are_asked_side_by_side_come_in_their_order(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = UpdateWriter.send
    others: Iterator[Awaitable[None]] = iter(())

    def send(writer: UpdateWriter, lines: bytes) -> Awaitable[None]:
        done = sent(writer, lines)
        return next(others, done)  # the first sender lets the others run before it

    async def side_by_side(turn: Turn) -> None:
        nonlocal others
        others = iter([YIELD])
        await asyncio.gather(*(turn.permit(title) for title in ("One", "Two", "Three")))

    monkeypatch.setattr(UpdateWriter, "send", send)
    client = ScriptedClient(permissions=[True] * 3)
    async with link(script_agent(side_by_side), client) as agent:
        await (await agent.new_session()).prompt("go")
    assert [question.title for question in client.asked] == ["One", "Two", "Three"]


async def test_a_request_can_run_in_a_task_or_with_a_timeout(link: Link) -> None:
    answers: list[Permission] = []

    async def step(turn: Turn) -> None:
        asking = turn.permit("Run the tests")
        assert asyncio.iscoroutine(asking)
        answers.append(await asyncio.create_task(asking))
        answers.append(await asyncio.wait_for(turn.permit("Run them again"), 300))
        answers.extend(await asyncio.gather(turn.permit("Push"), turn.permit("Tag")))

    async with link(script_agent(step), ScriptedClient(permissions=[True])) as agent:
        await (await agent.new_session()).prompt("go")

    assert [bool(answer) for answer in answers] == [True] * 4


async def test_a_request_that_is_not_awaited_is_neither_yes_nor_no(link: Link) -> None:
    """A plain coroutine would be true."""
    refusals: list[str] = []

    async def step(turn: Turn) -> None:
        for use in (bool, lambda asking: asking.always):
            with pytest.raises(UsageError) as caught:
                use(turn.permit("Delete everything"))
            refusals.append(str(caught.value))

    client = ScriptedClient()
    async with link(script_agent(step), client) as agent:
        await (await agent.new_session()).prompt("go")

    assert refusals == ["the user hasn't been asked yet; write “answer = await turn.permit(…)”"] * 2
    assert client.asked == []

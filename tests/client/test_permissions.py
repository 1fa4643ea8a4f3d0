"""A client's answers to permission requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import until
from support.wire_agent import Played, chunk, tell

from accord import Notice, PermissionOption, PermissionRequest, ToolCall, allow_all, reject_all
from accord.testing import WirePeer, wire_agent

OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "Y", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def question(version: int, options: list[Any] = OPTIONS, **call: Any) -> dict[str, Any]:
    about = {"toolCallId": "c", "title": "Delete it", "kind": "delete", "status": "pending", **call}
    if version == 1:
        return {"sessionId": "s", "toolCall": about, "options": options}
    return {
        "sessionId": "s",
        "title": "Delete it",
        "subject": {"type": "tool_call", "toolCall": about},
        "options": options,
    }


async def ask(version: int, permissions: Any, **how: Any) -> tuple[dict[str, Any], Any]:
    """The answer to one question during a turn, and the session it was asked in."""
    async with wire_agent(version, permissions=permissions) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        answer = await peer.call("session/request_permission", question(version, **how))
        await played.end(session, request)
        await turn
    return answer, session


def select(id: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": id}}


CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.mark.req("V1-PERM-04", "V1-PERM-06", "V1-PERM-07", "V2-PERM-07", "V2-PERM-09", "V1-INIT-23")
@pytest.mark.parametrize(
    ("decision", "answer"),
    [
        (True, select("y")),
        (False, select("n")),
        ("Y", select("Y")),
        (PermissionOption(id="n", name="No", kind="reject_once"), select("n")),
        (None, CANCELLED),
    ],
)
async def test_a_handler_decides_by_option_by_id_or_by_yes_and_no(version: int, decision: Any, answer: Any) -> None:
    async def later(request: PermissionRequest) -> Any:
        await asyncio.sleep(0)
        return decision

    for handler in (lambda request: decision, later):
        given, _ = await ask(version, handler)
        assert given["result"] == answer


async def test_allow_all_and_reject_all_answer_every_request(version: int) -> None:
    assert (await ask(version, allow_all))[0]["result"] == select("y")
    assert (await ask(version, reject_all))[0]["result"] == select("n")


@pytest.mark.req("V1-PERM-04", "V2-PERM-07")
async def test_without_a_handler_the_request_is_rejected_and_the_user_notified(version: int) -> None:
    answer, session = await ask(version, None)

    assert answer["result"] == select("n")
    assert session.transcript.notices == [
        Notice(
            severity="warning",
            title="Refused: Delete it",
            description="no handler for permissions was given to connect()",
        )
    ]


@pytest.mark.req("V1-PERM-04", "V2-PERM-07")
async def test_without_a_handler_or_a_way_to_say_no_the_question_is_cancelled(version: int) -> None:
    answer, _ = await ask(version, None, options=OPTIONS[:2])

    assert answer["result"] == CANCELLED


@pytest.mark.req("V1-PERM-06", "V2-PERM-07")
async def test_an_option_that_was_not_offered_is_never_answered(version: int) -> None:
    answer, _ = await ask(version, lambda request: "everything")

    assert answer["error"]["code"] == -32603
    assert "the permission handler returned 'everything'" in answer["error"]["message"]


@pytest.mark.req("V1-PERM-11", "V2-PERM-01")
async def test_a_question_without_options_is_not_put_to_the_user(version: int) -> None:
    questions: list[Any] = []
    answer, _ = await ask(version, questions.append, options=[])

    assert questions == []
    if version == 1:
        assert answer["result"] == CANCELLED
    else:
        assert answer["error"]["code"] == -32602


@pytest.mark.req("V2-PERM-11", "V2-PERM-02")
async def test_in_version_2_options_of_an_unknown_kind_are_shown_and_can_be_chosen() -> None:
    seen: list[PermissionRequest] = []
    options = [{"optionId": "m", "name": "Maybe", "kind": "_maybe"}]

    def choose(request: PermissionRequest) -> str:
        seen.append(request)
        return "m"

    answer, _ = await ask(2, choose, options=options)

    assert answer["result"] == select("m")
    assert [(option.kind, option.allows) for option in seen[0].options] == [("_maybe", False)]


@pytest.mark.req("V1-PERM-09", "V2-PERM-04", "V2-PERM-03")
async def test_the_tool_call_of_a_request_is_shown_before_the_handler_runs(version: int) -> None:
    shown: list[Any] = []

    def look(request: PermissionRequest) -> bool:
        assert request.tool_call is not None
        shown.append((request.title, request.tool_call.title, session.transcript.tool_calls["c"].title))
        return True

    async with wire_agent(version, permissions=look) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        kind = "tool_call" if version == 1 else "tool_call_update"
        await tell(peer, "s", {"sessionUpdate": kind, "toolCallId": "c", "title": "Old", "status": "pending"})
        await peer.call("session/request_permission", question(version, content=[]))
        await played.end(session, request)
        events = [event async for event in turn if isinstance(event, ToolCall)]

    assert shown == [("Delete it", "Delete it", "Delete it")]
    assert [event.title for event in events] == ["Old", "Delete it"]


@pytest.mark.req("V2-PERM-05", "V2-PERM-06")
@pytest.mark.parametrize(
    "subject",
    [
        {"type": "command", "command": "rm -r /", "cwd": "/project", "toolCallId": "unknown"},
        {"type": "_weather", "sky": "gray"},
        None,
    ],
)
async def test_in_version_2_a_question_about_anything_can_be_answered(subject: Any) -> None:
    seen: list[PermissionRequest] = []

    def look(request: PermissionRequest) -> bool:
        seen.append(request)
        return False

    async with wire_agent(2, permissions=look) as (peer, client):
        await Played(peer, client, 2).begin()
        params = {"sessionId": "s", "title": "May I?", "description": "Please.", "options": OPTIONS, "subject": subject}
        answer = await peer.call("session/request_permission", params)

    assert answer["result"] == select("n")
    (request,) = seen
    assert (request.title, request.description) == ("May I?", "Please.")
    if subject is None:
        assert (request.command, request.other, request.tool_call) == (None, None, None)
    elif subject["type"] == "command":
        assert (request.command, request.cwd) == ("rm -r /", "/project")
    else:
        assert request.other == subject


@pytest.mark.req("V1-PERM-10")
async def test_a_question_about_an_unknown_session_is_refused(version: int) -> None:
    async with wire_agent(version, permissions=allow_all) as (peer, _):
        refused = await peer.call("session/request_permission", question(version))
        nonsense = await peer.call("session/request_permission", {"sessionId": "s"})

    assert (refused["error"]["code"], refused["error"]["data"]) == (-32002, {"sessionId": "s"})
    assert nonsense["error"]["code"] == -32602


class Undecided:
    """A user who does not answer, and notices when the request is withdrawn."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.void: list[str] = []

    async def __call__(self, request: PermissionRequest) -> bool:
        self.questions.append(request.title)
        try:
            await asyncio.Event().wait()
        finally:
            self.void.append(request.title)
        return True


async def pending(peer: WirePeer, user: Undecided, version: int) -> int:
    id: int = await peer.ask("session/request_permission", question(version))
    await until(lambda: user.questions)
    return id


@pytest.mark.req("V2-CANCEL-07", "V1-CANCEL-11", "V1-CANCEL-13", "V1-CANCEL-16", "V2-CANCEL-18")
async def test_a_question_that_the_agent_withdraws_is_answered_cancelled(version: int) -> None:
    user = Undecided()
    async with wire_agent(version, permissions=user) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        id = await pending(peer, user, version)
        await peer.tell("$/cancel_request", {"requestId": "never used"})
        await peer.tell("$/cancel_request", {"requestId": id})
        answer = await peer.answer_to(id)
        await played.end(session, request)
        await turn

    assert answer["result"] == CANCELLED
    assert user.void == ["Delete it"]


@pytest.mark.req("V1-CANCEL-03", "V1-PERM-05", "V2-CANCEL-08")
async def test_cancelling_the_session_answers_every_open_question_cancelled(version: int) -> None:
    user = Undecided()
    async with wire_agent(version, permissions=user) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        first = await pending(peer, user, version)
        second = await peer.ask("session/request_permission", question(version, toolCallId="d"))
        await until(lambda: len(user.questions) == 2)
        await session.cancel()
        answers = [await peer.answer_to(first), await peer.answer_to(second)]
        await played.end(session, request, "cancelled")
        await turn

    assert [answer["result"] for answer in answers] == [CANCELLED, CANCELLED]
    assert turn.stop_reason == "cancelled"
    assert any(message.get("method") == "session/cancel" for message in peer.received)


async def test_a_question_still_open_at_the_end_of_its_turn_is_void(version: int) -> None:
    user = Undecided()
    async with wire_agent(version, permissions=user) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        id = await pending(peer, user, version)
        await played.end(session, request)
        await turn
        answer = await peer.answer_to(id)

    assert answer["result"] == CANCELLED


@pytest.mark.req("V2-STATE-05", "V2-CANCEL-08")
async def test_in_version_2_a_question_of_work_outside_the_turn_outlives_it() -> None:
    user = Undecided()
    async with wire_agent(2, permissions=user) as (peer, client):
        played = Played(peer, client, 2)
        session = await played.begin()
        id = await pending(peer, user, 2)
        turn, request = await played.start_turn(session, "go")
        await played.end(session, request)
        await turn
        await session.cancel()
        await peer.next_call("session/cancel")
        still = list(user.void)
        await peer.tell("$/cancel_request", {"requestId": id})
        answer = await peer.answer_to(id)

    assert still == []
    assert answer["result"] == CANCELLED


async def test_a_failing_handler_is_an_error_for_the_agent_and_the_turn_continues(version: int) -> None:
    def broken(request: PermissionRequest) -> bool:
        raise ZeroDivisionError("oh")

    answer, session = await ask(version, broken)

    assert answer["error"]["code"] == -32603
    assert session.last_turn.stop_reason == "end_turn"


async def test_a_question_is_shown_as_waiting_for_the_user(version: int) -> None:
    states: list[str] = []

    def look(request: PermissionRequest) -> bool:
        states.append(session.transcript.state)
        return True

    async with wire_agent(version, permissions=look) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        if version == 2:
            await tell(peer, "s", {"sessionUpdate": "state_update", "state": "requires_action"})
        await peer.call("session/request_permission", question(version))
        await played.end(session, request)
        await turn

    assert states == ["requires_action"]
    assert session.transcript.state == "idle"


async def test_text_after_a_call_announced_only_by_a_permission_request_stays_after_it() -> None:
    """Chunks without an id continue the message before them, and the call came between."""
    async with wire_agent(1, permissions=reject_all) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        await tell(peer, "s", chunk("I will delete it."))
        await peer.call("session/request_permission", question(1))
        await tell(peer, "s", chunk("You said no."))
        await played.end(session, request)
        await turn

    shown = [getattr(item, "text", None) or getattr(item, "title", None) for item in session.transcript.timeline]
    assert shown == ["go", "I will delete it.", "Delete it", "You said no."]


async def test_a_terminal_in_a_permission_request_is_in_the_transcript() -> None:
    _, session = await ask(1, reject_all, _meta={"terminal_info": {"terminal_id": "c1", "cwd": "/project"}})
    assert session.transcript.terminals["c1"].cwd == "/project"

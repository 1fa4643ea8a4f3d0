from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import Telling, block, events, update

from accord.model.content import TextContent
from accord.model.session import Subagent
from accord.transcript import Transcript
from accord.transcript.events import SubagentMessage

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def child(**fields: Any) -> dict[str, Any]:
    return update("subagent_update", sessionId="c", **fields)


def fold_subagent(version: int, *updates: dict[str, Any]) -> Subagent:
    return Telling(version).tell(*updates).subagents["c"]


FULL = child(
    title="Scout",
    description="looks around",
    cwd="/child",
    additionalDirectories=["/more"],
    state={"state": "running"},
    capabilities={"cancel": {}},
    _meta={"a": 1},
)


@pytest.mark.req("V1-SUBAG-05", "V2-SUBAG-01")
@VERSIONS
def test_omitted_fields_of_a_subagent_stay(version: int) -> None:
    assert fold_subagent(version, FULL, child()) == Subagent(
        session_id="c",
        title="Scout",
        description="looks around",
        cwd="/child",
        additional_directories=["/more"],
        state="running",
        can_cancel=True,
        meta={"a": 1},
    )


@pytest.mark.req("V1-SUBAG-05", "V2-SUBAG-04")
@VERSIONS
def test_null_clears_and_means_unconfirmed_and_nothing_allowed(version: int) -> None:
    names = ["title", "description", "cwd", "additionalDirectories", "state", "capabilities", "_meta"]

    assert fold_subagent(version, FULL, child(**dict.fromkeys(names))) == Subagent(
        session_id="c", state=None, can_cancel=False
    )


@pytest.mark.req("V1-SUBAG-05")
@VERSIONS
def test_capabilities_replace_those_before(version: int) -> None:
    assert fold_subagent(version, FULL, child(capabilities={})).can_cancel is False


@pytest.mark.req("V1-SUBAG-06")
@VERSIONS
def test_directories_that_a_subagent_does_not_name_are_its_parents_each_for_itself(version: int) -> None:
    telling = Telling(version, Transcript("s", cwd="/parent", additional_directories=["/extra"]))
    transcript = telling.tell(child())
    assert transcript.roots_of("c") == transcript.roots_of("nobody") == ("/parent", ["/extra"])

    telling.tell(child(cwd="/child"))
    assert transcript.roots_of("c") == ("/child", ["/extra"])

    telling.tell(child(cwd=None, additionalDirectories=[]))
    assert transcript.roots_of("c") == ("/parent", [])


@pytest.mark.req("V1-SUBAG-07")
@VERSIONS
@pytest.mark.parametrize(
    ("state", "shown", "reason"),
    [
        ({"state": "unknown"}, "unknown", None),
        ({"state": "_asleep", "stopReason": "end_turn"}, "_asleep", None),
        ({"state": "requires_action"}, "requires_action", None),
        ({"state": "idle", "stopReason": "refusal"}, "idle", "refusal"),
        ({"state": "idle", "stopReason": 3}, "idle", None),
    ],
    ids=str,
)
def test_the_state_of_a_subagent_is_what_was_last_confirmed(
    version: int, state: dict[str, Any], shown: str, reason: str | None
) -> None:
    found = fold_subagent(version, FULL, child(state=state))

    assert (found.state, found.stop_reason) == (shown, reason)


@pytest.mark.req("V2-SUBAG-04")
@VERSIONS
def test_a_repeated_report_changes_nothing_and_a_finished_subagent_can_still_be_cancelled(version: int) -> None:
    done = child(state={"state": "idle", "stopReason": "end_turn"})
    once, twice = Telling(version).tell(FULL, done), Telling(version).tell(FULL, done, done)

    assert once.snapshot() == twice.snapshot()
    assert once.subagents["c"].can_cancel


@pytest.mark.req("V2-SUBAG-02")
def test_metadata_of_a_subagent_is_replaced_in_v1_and_patched_in_v2() -> None:
    assert fold_subagent(1, FULL, child(_meta={"b": 2})).meta == {"b": 2}
    assert fold_subagent(2, FULL, child(_meta={"b": 2})).meta == {"a": 1, "b": 2}


def test_the_event_of_a_subagent_shows_it_as_it_stood() -> None:
    first, second = events(1, child(title="A"), child(title="B"))

    assert (first.title, second.title) == ("A", "B")


# What sessions say to each other


def letter(**fields: Any) -> dict[str, Any]:
    return update("session_message", messageId="m", **fields)


def more(text: str) -> dict[str, Any]:
    return update("session_message_chunk", messageId="m", content=block(text))


@pytest.mark.req("V1-SUBAG-08")
@VERSIONS
def test_a_message_between_sessions_is_upserted_by_its_id(version: int) -> None:
    telling = Telling(version)
    telling.tell(
        letter(senderSessionId="s", recipientSessionId="c", content=[block("a")]),
        more("b"),
        letter(recipientMessageId="r", senderSessionId=None),
    )

    assert telling.transcript.session_messages["m"] == SubagentMessage(
        "m", [TextContent("a"), TextContent("b")], {"recipient_session_id": "c", "recipient_message_id": "r"}
    )


@pytest.mark.req("V1-SUBAG-08")
@VERSIONS
@pytest.mark.parametrize("content", [None, []], ids=str)
def test_null_or_nothing_clears_a_message_between_sessions(version: int, content: Any) -> None:
    assert Telling(version).tell(more("a"), letter(content=content)).session_messages["m"].content == []


@pytest.mark.req("V1-SUBAG-08")
@VERSIONS
def test_a_piece_of_a_new_message_between_sessions_creates_it(version: int) -> None:
    assert events(version, more("a")) == [SubagentMessage("m", [TextContent("a")], {})]


def test_metadata_of_a_message_between_sessions_is_replaced_in_v1_and_patched_in_v2() -> None:
    both = [letter(_meta={"a": 1}), letter(_meta={"b": 2})]

    assert Telling(1).tell(*both).session_messages["m"].data == {"meta": {"b": 2}}
    assert Telling(2).tell(*both).session_messages["m"].data == {"meta": {"a": 1, "b": 2}}

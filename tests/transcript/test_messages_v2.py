from __future__ import annotations

import pytest
from transcript.update_builders import Telling, block, events, message_chunk, thought, update, user_chunk, v2

from accord.model.content import TextContent, UnknownContent
from accord.transcript.events import Media, MessageSet, Unknown


def whole(id: str, *texts: str, kind: str = "agent_message") -> dict[str, object]:
    return update(kind, messageId=id, content=[block(text) for text in texts])


@pytest.mark.req("V2-UPD-08")
def test_a_message_a_thought_and_a_prompt_may_have_the_same_id() -> None:
    transcript = v2(user_chunk("q", "1"), thought("t", "1"), message_chunk("a", "1"))

    assert {key: message.text for key, message in transcript.messages.items()} == {
        ("user", "1"): "q",
        ("thought", "1"): "t",
        ("agent", "1"): "a",
    }


@pytest.mark.req("V2-UPD-09", "V2-UPD-12")
def test_chunks_of_different_messages_interleave_in_order() -> None:
    transcript = v2(
        message_chunk("a", "1"),
        message_chunk("x", "2"),
        thought("-", "1"),
        message_chunk("b", "1"),
        message_chunk("y", "2"),
        message_chunk("c", "1"),
    )

    assert [message.text for message in transcript.messages.values()] == ["abc", "xy", "-"]
    assert [item.id for item in transcript.timeline] == ["1", "2", "1"]  # type: ignore[union-attr]


@pytest.mark.req("V2-UPD-10")
def test_a_whole_message_replaces_the_chunks_before_it() -> None:
    transcript = v2(message_chunk("A", "1"), message_chunk("B", "1"), whole("1", "C"))

    assert transcript.messages["agent", "1"].content == [TextContent("C")]


@pytest.mark.req("V2-UPD-10", "V2-UPD-15")
@pytest.mark.parametrize(
    ("content", "left"),
    [({}, "AB"), ({"content": None}, ""), ({"content": []}, ""), ({"content": [block("C")]}, "C")],
    ids=["omitted", "null", "empty", "array"],
)
def test_content_that_is_left_out_stays_and_null_or_empty_clears_it(content: dict[str, object], left: str) -> None:
    transcript = v2(message_chunk("A", "1"), message_chunk("B", "1"), update("agent_message", messageId="1", **content))

    assert transcript.messages["agent", "1"].text == left


@pytest.mark.req("V2-UPD-11")
def test_a_chunk_adds_its_block_to_the_content_there_is() -> None:
    transcript = v2(whole("1", "A"), message_chunk("B", "1"))

    assert transcript.messages["agent", "1"].content == [TextContent("A"), TextContent("B")]


@pytest.mark.req("V2-UPD-11")
def test_a_chunk_with_a_new_id_creates_the_message() -> None:
    assert v2(message_chunk("B", "new")).messages["agent", "new"].text == "B"


def test_streamed_text_is_one_block_however_it_was_cut() -> None:
    assert v2(message_chunk("A", "1"), message_chunk("B", "1")).messages["agent", "1"].content == [TextContent("AB")]


@pytest.mark.req("V2-UPD-13")
def test_metadata_of_a_whole_message_is_patched_by_key() -> None:
    def meta(*patches: object) -> object:
        return v2(*(update("agent_message", messageId="1", _meta=p) for p in patches)).messages["agent", "1"].meta

    assert meta({"a": 1, "b": {"x": 1}}, {"b": {"y": 2}, "c": 3}) == {"a": 1, "b": {"y": 2}, "c": 3}
    assert meta({"a": 1, "b": 2}, {"a": None, "none": None}) == {"b": 2}
    assert meta({"a": 1}, None) is None


@pytest.mark.req("V2-UPD-13")
def test_metadata_that_is_left_out_stays() -> None:
    transcript = v2(update("user_message", messageId="1", _meta={"a": 1}), update("user_message", messageId="1"))

    assert transcript.messages["user", "1"].meta == {"a": 1}


@pytest.mark.req("V2-UPD-14")
def test_metadata_of_a_chunk_never_becomes_the_messages() -> None:
    transcript = v2(
        update("agent_message", messageId="1", _meta={"a": 1}),
        message_chunk("x", "1", _meta={"b": 2}),
        message_chunk("y", "1", _meta=None),
    )

    assert transcript.messages["agent", "1"].meta == {"a": 1}


def test_the_event_of_a_whole_message_is_how_it_reads_now() -> None:
    assert events(
        2,
        message_chunk("A", "1"),
        message_chunk("B", "1"),
        update("agent_message", messageId="1"),
        whole("1", "C", "D"),
    )[2:] == [
        MessageSet("agent", "1", [TextContent("AB")]),
        MessageSet("agent", "1", [TextContent("C"), TextContent("D")]),
    ]


def test_the_event_of_a_whole_message_does_not_grow_with_the_message() -> None:
    telling = Telling(2)
    telling.tell(whole("1", "C"), message_chunk("D", "1"))

    assert telling.events[0].text == "C"


@pytest.mark.req("V2-UPD-05", "V2-CONTENT-08")
def test_unknown_updates_and_unknown_content_are_kept_whole() -> None:
    strange = {"type": "_hologram", "data": {"x": 1}, "text": "not text"}
    telling = Telling(2)
    telling.tell(update("agent_message_chunk", messageId="1", content=strange), update("_x", y=1))

    assert telling.transcript.messages["agent", "1"].content == [UnknownContent("_hologram", strange)]
    assert telling.transcript.messages["agent", "1"].text == ""
    assert telling.events == [
        Media(UnknownContent("_hologram", strange), "agent", "1"),
        Unknown("_x", update("_x", y=1)),
    ]


@pytest.mark.req("V2-UPD-03")
def test_an_update_that_only_version_1_has_is_kept_as_unknown() -> None:
    transcript = v2(update("tool_call", toolCallId="t", title="T"), update("plan", entries=[]))

    assert [unknown.kind for unknown in transcript.unknown] == ["tool_call", "plan"]
    assert not transcript.tool_calls and not transcript.plans


@pytest.mark.req("V2-UPD-06", "V2-UPD-07")
def test_a_malformed_update_changes_nothing_and_is_not_unknown() -> None:
    transcript = v2(message_chunk("no id"), update("tool_call_update"))

    assert not transcript.timeline and not transcript.unknown


@pytest.mark.req("V2-RESUME-15")
def test_a_replayed_history_is_folded_as_usual_and_marked() -> None:
    telling = Telling(2)
    telling.transcript.replaying = True
    telling.tell(
        whole("1", "q", kind="user_message"), message_chunk("old", "2"), whole("2", "a"), message_chunk("!", "2")
    )
    telling.transcript.replaying = False
    telling.tell(message_chunk("now", "3"))

    messages = telling.transcript.messages
    assert [(m.text, m.replayed) for m in messages.values()] == [("q", True), ("a!", True), ("now", False)]
    assert [event.replayed for event in telling.events] == [True, True, True, True, False]

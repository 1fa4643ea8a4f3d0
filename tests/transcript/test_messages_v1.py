from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import Telling, block, events, message_chunk, thought, update, user_chunk, v1

from accord.model.content import Annotations, Image, TextContent
from accord.transcript import Transcript
from accord.transcript.events import Media, Text, Thought, Unknown, UserText


def list_messages(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in transcript.messages.values()]


@pytest.mark.req("V1-UPD-07")
def test_chunks_with_the_same_id_make_one_message_and_a_changed_id_begins_another() -> None:
    transcript = v1(message_chunk("one ", "a"), message_chunk("and one", "a"), message_chunk("two", "b"))

    assert list_messages(transcript) == [("agent", "one and one"), ("agent", "two")]
    assert list(transcript.messages) == [("agent", "a"), ("agent", "b")]


@pytest.mark.req("V1-UPD-07")
def test_chunks_of_two_messages_may_interleave_when_they_have_ids() -> None:
    transcript = v1(
        message_chunk("1", "a"),
        message_chunk("2", "b"),
        message_chunk("1", "a"),
        update("usage_update", used=1, size=2),
        message_chunk("1", "a"),
    )

    assert list_messages(transcript) == [("agent", "111"), ("agent", "2")]


@pytest.mark.req("V1-UPD-08")
def test_chunks_without_ids_make_one_message_with_their_neighbors() -> None:
    assert list_messages(v1(message_chunk("Hel"), message_chunk("lo"), message_chunk("!"))) == [("agent", "Hello!")]


@pytest.mark.req("V1-UPD-08")
def test_another_variant_ends_a_message_without_an_id() -> None:
    transcript = v1(
        user_chunk("why?"), thought("hm"), message_chunk("because"), thought("so"), message_chunk("of that")
    )

    assert list_messages(transcript) == [
        ("user", "why?"),
        ("thought", "hm"),
        ("agent", "because"),
        ("thought", "so"),
        ("agent", "of that"),
    ]


@pytest.mark.req("V1-UPD-08")
@pytest.mark.parametrize(
    "between",
    [
        update("tool_call", toolCallId="t", title="Read"),
        update("plan", entries=[]),
        update("usage_update", used=1, size=2),
        update("from_the_future"),
        message_chunk("named", "n"),
    ],
    ids=lambda between: between["sessionUpdate"],
)
def test_any_update_in_between_ends_a_message_without_an_id(between: dict[str, Any]) -> None:
    texts = [text for _, text in list_messages(v1(message_chunk("before"), between, message_chunk("after")))]

    assert texts[0] == "before" and texts[-1] == "after"


@pytest.mark.req("V1-UPD-06", "V1-UPD-08")
def test_a_null_id_counts_as_missing() -> None:
    assert list_messages(v1(message_chunk("a", messageId=None), message_chunk("b"))) == [("agent", "ab")]


def test_messages_without_ids_are_named_here_and_the_events_carry_the_name() -> None:
    telling = Telling(1)
    telling.tell(message_chunk("a"), message_chunk("b"), thought("c"))

    first, second, third = telling.events
    assert first.message_id == second.message_id != third.message_id
    assert telling.transcript.messages["agent", first.message_id].given_id is None


def test_a_name_made_here_never_takes_the_place_of_one_the_agent_gave() -> None:
    transcript = v1(message_chunk("x", "a"), message_chunk("theirs", "~2"), message_chunk("nameless"))

    assert sorted(text for _, text in list_messages(transcript)) == ["nameless", "theirs", "x"]


def test_the_turns_of_an_agent_without_ids_are_kept_apart_by_the_users_own_words() -> None:
    telling = Telling(1)
    telling.transcript.add_message("user", [TextContent("first")])
    telling.tell(message_chunk("one"))
    telling.transcript.add_message("user", [TextContent("second")])
    telling.tell(message_chunk("two"))

    assert list_messages(telling.transcript) == [
        ("user", "first"),
        ("agent", "one"),
        ("user", "second"),
        ("agent", "two"),
    ]
    assert telling.transcript.text == "two"


def test_the_users_own_words_are_not_continued_by_an_echo() -> None:
    telling = Telling(1)
    telling.transcript.add_message("user", [TextContent("hi")])
    telling.tell(user_chunk("hi"))

    assert list_messages(telling.transcript) == [("user", "hi"), ("user", "hi")]


def test_each_kind_of_chunk_has_its_event() -> None:
    assert events(1, message_chunk("a", "1"), thought("b", "2"), user_chunk("c", "3")) == [
        Text("a", "1"),
        Thought("b", "2"),
        UserText("c", "3"),
    ]


def test_an_image_in_a_message_is_a_separate_event_and_keeps_its_position() -> None:
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    telling = Telling(1)
    telling.tell(
        message_chunk("see", "m"),
        update("agent_message_chunk", messageId="m", content=picture),
        message_chunk("?", "m"),
    )

    message = telling.transcript.messages["agent", "m"]
    assert message.content == [TextContent("see"), Image("aGk=", "image/png"), TextContent("?")]
    assert message.text == "see?"
    assert telling.events[1] == Media(Image("aGk=", "image/png"), "agent", "m")


@pytest.mark.req("V1-CONTENT-08")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("more", "kept"),
    [
        (
            {"annotations": {"audience": ["user"], "lastModified": "today"}},
            Annotations(audience=["user"], last_modified="today"),
        ),
        ({"_meta": {"k": 1}}, {"k": 1}),
        ({"annotations": None, "_meta": None}, None),
    ],
    ids=["annotations", "metadata", "null"],
)
def test_text_keeps_its_annotations_and_metadata(version: int, more: dict[str, Any], kept: Any) -> None:
    noted = update("agent_message_chunk", messageId="m", content={**block("psst"), **more})
    telling = Telling(version)
    telling.tell(message_chunk("a", "m"), noted)

    *_, last = telling.transcript.messages["agent", "m"].content
    assert isinstance(last, TextContent)
    assert (last.annotations or last.meta) == kept
    assert last.text == ("psst" if kept else "apsst")
    assert telling.events[1] == Text("psst", "m")


@pytest.mark.req("V1-CONTENT-01")
def test_every_kind_of_content_is_read() -> None:
    blocks = [
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3, "title": None},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGk="}},
    ]
    content = v1(*(update("user_message_chunk", messageId="m", content=item) for item in blocks)).messages["user", "m"]

    assert [type(piece).__name__ for piece in content.content] == ["Audio", "ResourceLink", "Resource", "Resource"]
    link, text, blob = content.content[1:]
    assert (link.name, link.size, link.title) == ("a", 3, None)  # type: ignore[union-attr]
    assert (text.resource.text, text.resource.mime_type) == ("b", "text/plain")  # type: ignore[union-attr]
    assert (blob.resource.text, blob.resource.blob) == (None, "aGk=")  # type: ignore[union-attr]


@pytest.mark.req("V1-UPD-12")
def test_an_unknown_update_is_kept_whole_and_a_malformed_one_changes_nothing() -> None:
    strange = update("zzz", toolCallId="t", deep={"a": [1, None]})
    telling = Telling(1)
    telling.tell(
        message_chunk("a", "m"),
        update("agent_message_chunk", content={"type": "text"}),
        strange,
        message_chunk("b", "m"),
    )

    assert telling.transcript.unknown == [Unknown("zzz", strange)]
    assert list_messages(telling.transcript) == [("agent", "ab")]
    assert telling.transcript.tool_calls == {}


def test_metadata_of_a_chunk_is_not_the_messages() -> None:
    assert v1(message_chunk("a", "m", _meta={"k": 1})).messages["agent", "m"].meta is None


def test_replayed_messages_are_marked() -> None:
    telling = Telling(1)
    telling.transcript.replaying = True
    telling.tell(user_chunk("q", "1"), update("tool_call", toolCallId="t", title="Old"))
    telling.transcript.replaying = False
    telling.tell(message_chunk("a", "2"), update("tool_call", toolCallId="u", title="New"))

    assert [message.replayed for message in telling.transcript.messages.values()] == [True, False]
    assert [call.replayed for call in telling.transcript.tool_calls.values()] == [True, False]
    assert [event.replayed for event in telling.events] == [True, True, False, False]


def test_the_text_of_a_transcript_is_what_the_agent_said_since_the_user_spoke() -> None:
    transcript = v1(
        user_chunk("q"),
        message_chunk("old"),
        user_chunk("q"),
        thought("hm"),
        message_chunk("a "),
        update("tool_call", toolCallId="t", title="T"),
        message_chunk("b"),
    )

    assert transcript.text == "a b"


def test_a_transcript_can_be_cleared_before_a_replay() -> None:
    telling = Telling(1, Transcript("s", cwd="/project"))
    telling.tell(message_chunk("a"), update("tool_call", toolCallId="t", title="T"), update("zzz"))
    telling.transcript.clear()
    telling.tell(message_chunk("b"))

    assert telling.transcript.cwd == "/project"
    assert list_messages(telling.transcript) == [("agent", "b")]
    assert not telling.transcript.tool_calls and not telling.transcript.unknown

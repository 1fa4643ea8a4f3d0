from __future__ import annotations

import pytest
from transcript.update_builders import Telling, block, message_chunk, text_block, tool, update, v1

from accord.model.content import TextContent
from accord.model.session import Background
from accord.model.tool import Diff, Location, TerminalRef, ToolCall


def announce(id: str = "t", title: str = "Read", **fields: object) -> dict[str, object]:
    return update("tool_call", toolCallId=id, title=title, **fields)


@pytest.mark.req("V1-TOOL-04", "V1-TOOL-05", "V1-TOOL-13")
def test_a_tool_call_is_pending_other_and_nameless_unless_it_says_more() -> None:
    assert v1(announce()).tool_calls["t"] == ToolCall(id="t", title="Read", kind="other", status="pending", name=None)


@pytest.mark.req("V1-TOOL-04", "V1-TOOL-05", "V1-TOOL-13", "V1-TOOL-15", "V1-TOOL-16", "V1-TOOL-21")
def test_all_fields_of_a_tool_call_are_kept() -> None:
    call = v1(
        announce(
            kind="edit",
            status="in_progress",
            name="write_file",
            content=[
                text_block("hi"),
                {"type": "diff", "path": "/a", "newText": "n"},
                {"type": "terminal", "terminalId": "x"},
            ],
            locations=[{"path": "/a", "line": 3}, {"path": "/b", "line": 0}],
            rawInput="any",
            rawOutput=[1],
            _meta={"k": 1},
        )
    ).tool_calls["t"]

    assert (call.kind, call.status, call.name) == ("edit", "in_progress", "write_file")
    assert call.content == [TextContent("hi"), Diff.of("/a", None, "n"), TerminalRef(terminal_id="x")]
    assert call.locations == [Location(path="/a", line=3), Location(path="/b")]
    assert (call.raw_input, call.raw_output, call.meta) == ("any", [1], {"k": 1})


def test_a_diff_of_a_new_file_adds_it_and_one_with_an_old_text_changes_it() -> None:
    new = {"type": "diff", "path": "/a", "oldText": None, "newText": "n"}
    changed = {"type": "diff", "path": "/a", "oldText": "o", "newText": ""}
    diffs = v1(announce(content=[new, changed])).tool_calls["t"].diffs

    assert [diff.changes[0].operation for diff in diffs] == ["add", "modify"]
    assert (diffs[1].changes[0].old_text, diffs[1].changes[0].new_text) == ("o", "")


@pytest.mark.req("V1-TOOL-06", "V1-TOOL-07")
def test_an_update_changes_what_it_names_and_leaves_the_rest() -> None:
    call = v1(
        announce(kind="read", content=[text_block("a")], rawInput={"x": 1}), tool("t", status="completed")
    ).tool_calls["t"]

    assert (call.title, call.kind, call.status) == ("Read", "read", "completed")
    assert (call.content, call.raw_input) == ([TextContent("a")], {"x": 1})


@pytest.mark.req("V1-TOOL-07")
def test_a_list_replaces_the_whole_list_and_null_leaves_it() -> None:
    telling = Telling(1)
    call = telling.tell(
        announce(content=[text_block("a"), text_block("b")], locations=[{"path": "/a"}, {"path": "/b"}]),
        tool("t", content=[text_block("c")], locations=[{"path": "/c"}]),
        tool("t", content=None, locations=None),
    ).tool_calls["t"]
    assert call.content == [TextContent("c")]
    assert call.locations == [Location(path="/c")]

    telling.tell(tool("t", content=[], locations=[]))
    assert (call.content, call.locations) == ([], [])


@pytest.mark.req("V1-TOOL-07", "V1-TOOL-13")
def test_null_leaves_every_field_as_it_was() -> None:
    transcript = v1(
        announce(kind="read", status="in_progress", name="cat", rawInput=1, rawOutput=2, _meta={"k": 1}),
        tool("t", title=None, kind=None, status=None, name=None, rawInput=None, rawOutput=None, _meta=None),
    )

    assert transcript.tool_calls["t"] == ToolCall(
        id="t", title="Read", kind="read", status="in_progress", name="cat", raw_input=1, raw_output=2, meta={"k": 1}
    )


@pytest.mark.req("V1-TOOL-08")
def test_an_update_for_a_call_never_announced_creates_it() -> None:
    assert v1(tool("t", status="in_progress")).tool_calls["t"] == ToolCall(id="t", status="in_progress")


@pytest.mark.req("V1-TOOL-08")
def test_a_call_announced_after_its_update_or_twice_keeps_what_is_known() -> None:
    transcript = v1(
        tool("t", status="in_progress", kind="read", content=[text_block("a")]), announce(), announce(title="Again")
    )

    assert len(transcript.timeline) == 1
    assert transcript.tool_calls["t"] == ToolCall(
        id="t", title="Again", kind="read", status="in_progress", content=[TextContent("a")]
    )


@pytest.mark.req("V1-TOOL-12")
def test_updates_after_the_end_of_a_call_are_taken() -> None:
    call = v1(announce(status="completed"), tool("t", content=[text_block("late")], title="Done")).tool_calls["t"]

    assert (call.status, call.title, call.content) == ("completed", "Done", [TextContent("late")])


@pytest.mark.req("V1-TOOL-17")
def test_a_bad_item_leaves_the_list_and_a_bare_block_is_content() -> None:
    call = v1(
        announce(content=[block("bare"), {"type": "diff"}, text_block("x")], locations=[{"line": 1}, {"path": "/a"}])
    )

    assert call.tool_calls["t"].content == [TextContent("bare"), TextContent("x")]
    assert call.tool_calls["t"].locations == [Location(path="/a")]


def test_an_event_shows_the_call_as_it_stood() -> None:
    telling = Telling(1)
    telling.tell(announce(), tool("t", status="in_progress"), tool("t", status="completed", title="Read it"))

    assert [(event.status, event.title) for event in telling.events] == [
        ("pending", "Read"),
        ("in_progress", "Read"),
        ("completed", "Read it"),
    ]


@pytest.mark.req("V1-CANCEL-02")
def test_cancelling_marks_the_unfinished_calls_here() -> None:
    telling = Telling(1)
    transcript = telling.tell(
        announce("a"),
        announce("b", status="in_progress"),
        announce("c", status="completed"),
        announce("d", status="failed"),
    )
    marked = transcript.cancel_open_calls(["a", "b", "c", "d", "e"])

    assert [call.id for call in marked] == ["a", "b"]
    assert {id: call.status for id, call in transcript.tool_calls.items()} == {
        "a": "cancelled",
        "b": "cancelled",
        "c": "completed",
        "d": "failed",
    }


@pytest.mark.req("V1-CANCEL-08")
def test_updates_after_cancelling_are_taken() -> None:
    telling = Telling(1)
    telling.tell(announce("a"), announce("b")).cancel_open_calls(["a", "b"])
    telling.tell(tool("a", status="completed", content=[text_block("done")]), tool("b", content=[text_block("half")]))

    calls = telling.transcript.tool_calls
    assert (calls["a"].status, calls["a"].content) == ("completed", [TextContent("done")])
    assert (calls["b"].status, calls["b"].content) == ("cancelled", [TextContent("half")])


def test_cancelling_leaves_what_runs_outside_the_turn() -> None:
    telling = Telling(1)
    telling.tell(announce("a"), announce("b"))
    telling.transcript.set_state("running", background=[Background(kind="tool_call", id="b")])

    assert [call.id for call in telling.transcript.cancel_open_calls(["a", "b"])] == ["a"]


def test_calls_are_listed_among_the_messages_where_they_first_appeared() -> None:
    transcript = v1(message_chunk("a"), announce("t"), message_chunk("b"), tool("t", status="completed"))

    assert [getattr(item, "text", None) or item.id for item in transcript.timeline] == ["a", "t", "b"]  # type: ignore[union-attr]


@pytest.mark.req("V1-TOOL-20", "V1-TERM-16")
def test_a_terminal_of_the_client_is_shown_by_its_call_and_stays_after_its_release() -> None:
    telling = Telling(1)
    transcript = telling.tell(announce(content=[{"type": "terminal", "terminalId": "x"}]))
    transcript.patch_terminal("x", command="make", cwd="/project")
    transcript.append_output("x", b"ok \xe2")
    transcript.append_output("x", b"\x9c\x93")

    assert transcript.terminals["x"].text == "ok ✓"
    assert transcript.terminals["x"].command == "make"


def test_output_of_a_client_terminal_does_not_split_a_message() -> None:
    telling = Telling(1)
    telling.tell(message_chunk("Hel"))
    telling.transcript.append_output("x", b"...")
    telling.tell(message_chunk("lo"))

    assert telling.transcript.text == "Hello" and len(telling.transcript.messages) == 1

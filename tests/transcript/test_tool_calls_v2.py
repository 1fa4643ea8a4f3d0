from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import Telling, text_block, tool, update, v2

from accord.model.content import TextContent, UnknownContent
from accord.model.tool import Diff, FileChange, Location, ToolCall


def piece(id: str, content: dict[str, Any]) -> dict[str, Any]:
    return update("tool_call_content_chunk", toolCallId=id, content=content)


FULL = tool(
    "t",
    title="Edit",
    name="edit_file",
    kind="edit",
    status="in_progress",
    content=[text_block("a")],
    locations=[{"path": "/a", "line": 2}],
    rawInput={"x": 1},
    rawOutput=False,
    capabilities={"cancel": {}},
)


@pytest.mark.req("V2-TOOL-03", "V2-UPD-15")
def test_omitted_fields_of_an_update_stay() -> None:
    before = v2(FULL).tool_calls["t"]

    assert v2(FULL, tool("t")).tool_calls["t"] == before
    assert (before.name, before.raw_output, before.can_cancel) == ("edit_file", False, True)


@pytest.mark.req("V2-TOOL-03", "V2-TOOL-04", "V2-UPD-15")
def test_null_clears_a_field_to_what_a_new_call_has() -> None:
    nothing = dict.fromkeys(
        ["title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput", "capabilities"]
    )

    assert v2(FULL, tool("t", **nothing)).tool_calls["t"] == ToolCall(id="t")


@pytest.mark.req("V2-TOOL-03")
def test_lists_are_replaced_whole_and_an_empty_one_clears() -> None:
    call = v2(FULL, tool("t", content=[text_block("b"), text_block("c")], locations=[{"path": "/z"}])).tool_calls["t"]
    assert call.content == [TextContent("b"), TextContent("c")]
    assert call.locations == [Location(path="/z")]

    call = v2(FULL, tool("t", content=[], locations=[])).tool_calls["t"]
    assert (call.content, call.locations) == ([], [])


@pytest.mark.req("V2-TOOL-04")
def test_a_new_call_has_no_title_is_other_pending_and_offers_nothing() -> None:
    call = v2(tool("t")).tool_calls["t"]

    assert (call.title, call.kind, call.status, call.can_cancel) == ("", "other", "pending", False)


@pytest.mark.req("V2-TOOL-05")
def test_a_content_chunk_adds_one_piece_and_later_content_replaces_all() -> None:
    telling = Telling(2)
    call = telling.tell(tool("t", content=[text_block("a")]), piece("t", text_block("b"))).tool_calls["t"]
    assert call.content == [TextContent("a"), TextContent("b")]

    telling.tell(tool("t", content=[text_block("c")]), piece("t", text_block("d")))
    assert call.content == [TextContent("c"), TextContent("d")]


@pytest.mark.req("V2-TOOL-05")
def test_a_content_chunk_for_a_new_id_creates_the_call() -> None:
    assert v2(piece("t", text_block("a"))).tool_calls["t"] == ToolCall(id="t", content=[TextContent("a")])


@pytest.mark.req("V2-TOOL-06", "V2-TOOL-07")
def test_kinds_and_states_from_the_future_are_kept_and_still_count_as_unfinished() -> None:
    call = v2(tool("t", kind="_dream", status="_dreaming")).tool_calls["t"]

    assert (call.kind, call.status, call.is_final) == ("_dream", "_dreaming", False)


@pytest.mark.req("V2-TOOL-07")
@pytest.mark.parametrize(
    ("status", "final"),
    [
        ("pending", False),
        ("in_progress", False),
        ("paused", False),
        ("completed", True),
        ("failed", True),
        ("cancelled", True),
    ],
)
def test_a_call_is_finished_when_it_completed_failed_or_was_cancelled(status: str, final: bool) -> None:
    assert v2(tool("t", status=status)).tool_calls["t"].is_final is final


@pytest.mark.req("V2-TOOL-11")
@pytest.mark.parametrize(
    ("capabilities", "can_cancel"),
    [
        ({"cancel": {}}, True),
        ({}, False),
        ({"_other": {}}, False),
        (None, False),
        ("bad", False),
        ({"cancel": None}, False),
    ],
    ids=str,
)
def test_capabilities_replace_those_before_and_bad_ones_offer_nothing(capabilities: Any, can_cancel: bool) -> None:
    calls = v2(tool("t", capabilities={"cancel": {}}), tool("t", capabilities=capabilities)).tool_calls

    assert calls["t"].can_cancel is can_cancel


@pytest.mark.req("V2-UPD-13")
def test_metadata_of_a_call_is_patched_by_key_but_not_by_a_chunk() -> None:
    transcript = v2(
        tool("t", _meta={"a": 1, "b": 2}),
        tool("t", _meta={"b": None, "c": 3}),
        {**piece("t", text_block("x")), "_meta": {"d": 4}},
    )

    assert transcript.tool_calls["t"].meta == {"a": 1, "c": 3}


@pytest.mark.req("V2-TOOL-12")
def test_content_of_an_unknown_kind_is_kept_and_a_bad_item_skipped() -> None:
    chart = {"type": "_chart", "points": [1, 2]}
    call = v2(tool("t", content=[chart, {"type": "content"}, text_block("a")])).tool_calls["t"]

    assert call.content == [UnknownContent("_chart", chart), TextContent("a")]


# Diffs


def diff(*changes: dict[str, Any], **more: Any) -> Diff:
    return v2(tool("t", content=[{"type": "diff", "changes": list(changes), **more}])).tool_calls["t"].diffs[0]


@pytest.mark.req("V2-DIFF-01", "V2-DIFF-02", "V2-DIFF-07")
def test_the_changes_of_a_diff_say_which_files_and_how() -> None:
    changes = diff(
        {"operation": "add", "path": "/new", "fileType": "text", "mimeType": "text/plain"},
        {"operation": "move", "oldPath": "/from", "path": "/to"},
        {"operation": "_touch", "path": "/a", "extra": 1},
    ).changes

    assert changes == [
        FileChange(operation="add", path="/new", file_type="text", mime_type="text/plain"),
        FileChange(operation="move", path="/to", old_path="/from"),
        FileChange(operation="_touch", path="/a"),
    ]


@pytest.mark.req("V2-DIFF-06")
@pytest.mark.parametrize("patch", [{}, {"patch": None}], ids=["missing", "null"])
def test_a_diff_without_a_patch_still_lists_its_files(patch: dict[str, Any]) -> None:
    found = diff({"operation": "modify", "path": "/logo.png", "fileType": "binary"}, **patch)

    assert found.patch == ""
    assert found.changes[0].path == "/logo.png"


@pytest.mark.req("V2-DIFF-07")
def test_the_patch_is_shown_as_it_came_and_says_nothing_about_the_files() -> None:
    found = diff({"operation": "delete", "path": "/a"}, patch={"format": "git_patch", "text": "diff --git /b /b\n"})

    assert found.patch == "diff --git /b /b\n"
    assert [change.path for change in found.changes] == ["/a"]


def test_a_patch_in_another_format_is_not_taken_for_a_git_patch() -> None:
    assert diff({"operation": "modify", "path": "/a"}, patch={"format": "_ed", "text": "1d"}).patch == ""


@pytest.mark.req("V2-DIFF-08")
def test_an_invalid_change_is_skipped_and_a_diff_without_changes_is_ignored() -> None:
    assert [change.path for change in diff({"operation": "add"}, {"operation": "add", "path": "/a"}).changes] == ["/a"]

    broken = [{"type": "diff", "changes": "none"}, {"type": "diff"}, text_block("x")]
    assert v2(tool("t", content=broken)).tool_calls["t"].content == [TextContent("x")]

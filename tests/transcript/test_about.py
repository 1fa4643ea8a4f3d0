"""Usage, title, notices, compactions."""

from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import Telling, block, events, message_chunk, update, v1, v2

from accord.model.content import TextContent
from accord.model.session import Compaction, Cost, Notice, Usage
from accord.transcript import Message
from accord.transcript.events import InfoChanged

COST = {"amount": 0.5, "currency": "USD"}


def usage(number: int, **more: Any) -> dict[str, Any]:
    return update("usage_update", used=number, size=100, **more)


@pytest.mark.req("V1-USAGE-02", "V1-USAGE-03", "V1-USAGE-06")
@pytest.mark.parametrize("cost", [{}, {"cost": None}, {"cost": "cheap"}], ids=["omitted", "null", "bad"])
def test_in_v1_a_cost_that_is_not_given_is_none(cost: dict[str, Any]) -> None:
    credits = {"amount": 3, "currency": "credits"}

    assert v1(usage(1, cost=credits)).usage == Usage(used=1, size=100, cost=Cost(amount=3, currency="credits"))
    assert v1(usage(1, cost=COST), usage(2, **cost)).usage == Usage(used=2, size=100)


@pytest.mark.req("V1-USAGE-06")
def test_usage_without_its_numbers_is_dropped() -> None:
    assert v1(usage(1), update("usage_update", used=5)).usage == Usage(used=1, size=100)


@pytest.mark.req("V2-USAGE-01", "V2-UPD-15")
@pytest.mark.parametrize(
    ("cost", "left"),
    [
        ({}, Cost(amount=0.5, currency="USD")),
        ({"cost": None}, None),
        ({"cost": {"amount": 1, "currency": "EUR"}}, Cost(amount=1, currency="EUR")),
    ],
    ids=["omitted", "null", "value"],
)
def test_in_v2_a_cost_that_is_left_out_stays_and_null_clears_it(cost: dict[str, Any], left: Cost | None) -> None:
    assert v2(usage(1, cost=COST), usage(2, **cost)).usage == Usage(used=2, size=100, cost=left)


@pytest.mark.req("V1-UPD-16", "V1-UPD-19")
@pytest.mark.parametrize("version", [1, 2])
def test_listed_session_info_is_patched_field_by_field(version: int) -> None:
    moment, title = "2026-01-02T03:04:05Z", "long " * 2000
    assert events(
        version,
        update("session_info_update", title=title),
        update("session_info_update", updatedAt=moment),
        update("session_info_update", title=None),
    ) == [InfoChanged(title, None), InfoChanged(title, moment), InfoChanged(None, moment)]


@pytest.mark.req("V1-UPD-16")
def test_in_v1_metadata_of_the_session_is_replaced_and_null_clears_it() -> None:
    def meta(*values: Any) -> Any:
        return v1(*(update("session_info_update", **value) for value in values)).meta

    assert meta({"_meta": {"a": 1}}, {"_meta": {"b": 2}}, {}) == {"b": 2}
    assert meta({"_meta": {"a": 1}}, {"_meta": None}) is None


@pytest.mark.req("V2-UPD-13")
def test_in_v2_metadata_of_the_session_is_patched_by_key() -> None:
    transcript = v2(
        update("session_info_update", _meta={"a": 1, "b": 2}), update("session_info_update", _meta={"a": None, "c": 3})
    )

    assert transcript.meta == {"b": 2, "c": 3}


# Notices


def notice(severity: str = "info", title: str = "Note", **more: Any) -> dict[str, Any]:
    return update("notice", severity=severity, title=title, **more)


@pytest.mark.req("V1-NOTICE-05", "V2-USAGE-04")
@pytest.mark.parametrize("version", [1, 2])
def test_a_notice_is_kept_whatever_its_severity(version: int) -> None:
    telling = Telling(version)
    telling.tell(message_chunk("a", "m"), notice("_grave", "Look", description="there"), notice("error"))

    first = Notice(severity="_grave", title="Look", description="there")
    assert telling.transcript.notices == [first, Notice(severity="error", title="Note")]
    assert telling.transcript.timeline[1:] == telling.transcript.notices
    assert telling.events[1] == first


@pytest.mark.req("V1-NOTICE-06", "V2-USAGE-05")
def test_a_notice_changes_no_state() -> None:
    running = update("state_update", state="running")
    before, after = v2(running), v2(running, notice("error", "Everything is lost"))

    assert (after.state, after.stop_reason, after.error) == (before.state, None, None) == ("running", None, None)


# Compactions


def compaction(status: str, **more: Any) -> dict[str, Any]:
    return update("compaction_update", compactionId="c", status=status, **more)


def summed_up(text: str) -> dict[str, Any]:
    return update("compaction_summary_chunk", compactionId="c", content=block(text))


@pytest.mark.req("V1-NOTICE-12", "V2-USAGE-03")
@pytest.mark.parametrize("version", [1, 2])
def test_the_first_word_about_a_compaction_fixes_its_place(version: int) -> None:
    telling = Telling(version)
    telling.tell(message_chunk("a", "1"), compaction("in_progress"), message_chunk("b", "2"), compaction("completed"))

    kinds = [type(item) for item in telling.transcript.timeline]
    assert kinds == [Message, Compaction, Message]
    assert telling.transcript.compactions["c"].status == "completed"
    assert [event.status for event in telling.events if isinstance(event, Compaction)] == ["in_progress", "completed"]


@pytest.mark.req("V1-NOTICE-12", "V2-USAGE-03")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("change", "summary", "error"),
    [
        ({}, "ab", "e"),
        ({"summary": None, "error": None}, "", None),
        ({"summary": []}, "", "e"),
        ({"summary": [block("c")], "error": "f"}, "c", "f"),
    ],
    ids=["omitted", "null", "empty", "values"],
)
def test_later_updates_patch_a_compaction(
    version: int, change: dict[str, Any], summary: str, error: str | None
) -> None:
    telling = Telling(version)
    telling.tell(compaction("in_progress", error="e"), summed_up("a"), summed_up("b"), compaction("failed", **change))

    found = telling.transcript.compactions["c"]
    assert "".join(piece.text for piece in found.summary if isinstance(piece, TextContent)) == summary
    assert (found.status, found.error) == ("failed", error)


@pytest.mark.req("V1-NOTICE-12")
def test_chunks_come_after_a_summary_and_a_later_summary_replaces_them() -> None:
    telling = Telling(1)
    telling.tell(compaction("in_progress", summary=[block("a")]), summed_up("b"))
    assert telling.transcript.compactions["c"].summary == [TextContent("a"), TextContent("b")]

    telling.tell(compaction("completed", summary=[block("all")]))
    assert telling.transcript.compactions["c"].summary == [TextContent("all")]


@pytest.mark.req("V2-USAGE-03")
@pytest.mark.parametrize("version", [1, 2])
def test_a_chunk_for_a_new_compaction_creates_one_in_progress(version: int) -> None:
    telling = Telling(version)

    assert telling.tell(summed_up("a")).compactions["c"] == Compaction(
        id="c", status="in_progress", summary=[TextContent("a")]
    )


@pytest.mark.req("V1-NOTICE-13", "V2-USAGE-04")
@pytest.mark.parametrize("version", [1, 2])
def test_an_unknown_status_of_a_compaction_is_kept(version: int) -> None:
    assert Telling(version).tell(compaction("_waiting")).compactions["c"].status == "_waiting"


@pytest.mark.req("V2-USAGE-03")
def test_metadata_of_a_compaction_is_replaced_in_v1_and_patched_in_v2() -> None:
    told = [compaction("in_progress", _meta={"a": 1}), compaction("completed", _meta={"b": 2})]

    assert v1(*told).compactions["c"].meta == {"b": 2}
    assert v2(*told).compactions["c"].meta == {"a": 1, "b": 2}

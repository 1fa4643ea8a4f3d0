from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import events, update, v1, v2

from accord.model.session import Plan, PlanEntry
from accord.transcript.events import PlanRemoved


def entry(content: str, status: str = "pending", priority: str = "medium") -> dict[str, Any]:
    return {"content": content, "status": status, "priority": priority}


def items(id: str, *contents: str) -> dict[str, Any]:
    return update("plan_update", plan={"type": "items", "planId": id, "entries": [entry(c) for c in contents]})


def contents(plan: Plan) -> list[str]:
    return [entry.content for entry in plan.entries]


@pytest.mark.req("V1-PLAN-04")
def test_each_plan_replaces_the_whole_one_before() -> None:
    transcript = v1(
        update("plan", entries=[entry("a"), entry("b", "in_progress", "high")]),
        update("plan", entries=[entry("b", "completed", "low")]),
    )

    assert transcript.plans == {
        "main": Plan(id="main", entries=[PlanEntry(content="b", status="completed", priority="low")])
    }


@pytest.mark.req("V1-PLAN-07")
def test_a_bad_step_is_skipped() -> None:
    transcript = v1(update("plan", entries=[entry("a", priority="urgent"), entry("b")]))

    assert contents(transcript.plans["main"]) == ["b"]


@pytest.mark.req("V1-PLAN-10")
def test_plans_are_told_apart_by_their_ids_in_v1() -> None:
    transcript = v1(
        items("a", "1"), items("b", "2", "3"), items("a", "4"), update("plan_removed", planId="b"), items("c", "5")
    )

    assert {id: contents(plan) for id, plan in transcript.plans.items()} == {"a": ["4"], "c": ["5"]}


@pytest.mark.req("V1-PLAN-09", "V1-PLAN-10")
def test_an_older_spelling_of_the_plan_id_is_read() -> None:
    transcript = v1(
        update("plan_update", plan={"type": "markdown", "id": "a", "content": "# A"}), update("plan_removed", id="a")
    )

    assert transcript.plans == {}


@pytest.mark.req("V2-PLAN-04")
def test_plans_are_told_apart_by_their_ids_in_v2() -> None:
    transcript = v2(items("a", "1", "2"), items("b", "3"), items("a", "4"))

    assert {id: contents(plan) for id, plan in transcript.plans.items()} == {"a": ["4"], "b": ["3"]}


@pytest.mark.req("V2-PLAN-04")
def test_a_plan_of_an_unknown_kind_replaces_the_one_with_its_id() -> None:
    graph = {"type": "_graph", "planId": "a", "nodes": [1]}

    assert v2(items("a", "1"), update("plan_update", plan=graph)).plans == {"a": Plan(id="a", other=graph)}


@pytest.mark.req("V2-PLAN-03")
def test_words_from_the_future_in_a_plan_are_kept() -> None:
    plan = {"type": "items", "planId": "a", "entries": [entry("x", "_stuck", "_urgent"), entry("y", "cancelled")]}
    first, second = v2(update("plan_update", plan=plan)).plans["a"].entries

    assert (first.status, first.priority, second.status) == ("_stuck", "_urgent", "cancelled")


@pytest.mark.req("V2-PLAN-05")
@pytest.mark.parametrize("version", [1, 2])
def test_plans_may_be_prose_or_a_file_and_may_be_removed(version: int) -> None:
    assert events(
        version,
        update("plan_update", plan={"type": "markdown", "planId": "a", "content": "# A"}),
        update("plan_update", plan={"type": "file", "planId": "b", "uri": "file:///plan.md"}),
        update("plan_removed", planId="a"),
        update("plan_removed", planId="never there"),
    ) == [
        Plan(id="a", markdown="# A"),
        Plan(id="b", uri="file:///plan.md"),
        PlanRemoved("a"),
        PlanRemoved("never there"),
    ]

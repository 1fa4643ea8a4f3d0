"""ask_user and switch_mode."""

from __future__ import annotations

from typing import Any

import pytest

from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.policy.rule import Rule

from .conftest import Benches


async def test_a_choice_is_asked_for_with_a_form(bench: Benches) -> None:
    asked: list[Elicitation] = []

    def elicitation(question: Elicitation) -> dict[str, Any]:
        asked.append(question)
        return {"answer": "blue"}

    async with bench(elicitation=elicitation) as desk:
        told = await desk.told("ask_user", question="Which colour?", choices=["red", "blue", "red"])
        assert told == "The user answered: blue"
        assert asked[0].message == "Which colour?"
        assert asked[0].schema["properties"]["answer"]["enum"] == ["red", "blue"]
        assert (desk.shown.title, desk.shown.kind) == ("Ask: Which colour?", "other")
        assert desk.shown.raw_output == {"action": "accept", "answer": "blue"}


async def test_a_free_text_and_several_choices_are_asked_for_with_a_form(bench: Benches) -> None:
    answers: list[Any] = ["tomorrow", ["a", "c"]]
    async with bench(elicitation=lambda question: {"answer": answers.pop(0)}) as desk:
        assert await desk.told("ask_user", question="When?") == "The user answered: tomorrow"
        told = await desk.told("ask_user", question="Which?", choices=["a", "b", "c"], multiple=True)
        assert told == "The user answered: a, c"


@pytest.mark.parametrize(
    "reply, words",
    [
        (Reply(action="decline"), "does not want to answer"),
        (Reply(action="cancel"), "closed without an answer"),
        (Reply(action="accept", content={"answer": "green"}), "does not fit"),
        (Reply(action="accept", content={}), "does not fit"),
    ],
)
async def test_no_answer_is_told_in_words(bench: Benches, reply: Reply, words: str) -> None:
    async with bench(elicitation=lambda question: reply) as desk:
        assert words in await desk.told("ask_user", question="Which?", choices=["red", "blue"])


async def test_without_forms_a_choice_is_asked_for_as_a_permission(bench: Benches) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> str:
        asked.append(request)
        return "1"

    async with bench(permissions=permissions) as desk:
        assert await desk.told("ask_user", question="Which?", choices=["red", "blue"]) == "The user answered: blue"
    assert [option.name for option in asked[0].options] == ["red", "blue", "Cancel"]


async def test_without_forms_a_free_question_is_said_and_answered_later(bench: Benches) -> None:
    async with bench() as desk:
        assert "End your turn now" in await desk.told("ask_user", question="What now?")
        assert "What now?" in desk.session.transcript.text


async def test_one_choice_is_none(bench: Benches) -> None:
    async with bench() as desk:
        assert "at least two" in await desk.fault("ask_user", question="Which?", choices=["red"])
        assert "at least two" in await desk.fault("ask_user", question="Which?", multiple=True)


async def test_ready_to_implement_shows_the_plan_and_switches(bench: Benches) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    async with bench(permissions=permissions) as desk:
        await desk.session.set_mode("architect")
        await desk.told("set_plan", steps=[{"content": "write it"}])
        told = await desk.told("switch_mode", mode="code", reason="The plan is complete.")
        assert "the mode is code now" in told
        assert desk.desk.mode == "code"
        assert "code" in [option.value for option in desk.session.transcript.options]
        (request,) = asked
        assert request.tool_call is not None
        assert (request.tool_call.title, request.tool_call.kind) == ("Ready to implement?", "switch_mode")
        words = str(request.tool_call.content)
        assert "write it" in words and "The plan is complete." in words
        assert [option.kind for option in request.options] == ["allow_once", "reject_once"]


@pytest.mark.parametrize("answer, words", [(False, "said no"), (None, "closed the question")])
async def test_a_mode_that_is_not_agreed_to_stays(bench: Benches, answer: bool | None, words: str) -> None:
    async with bench(permissions=lambda request: answer) as desk:
        await desk.session.set_mode("architect")
        assert words in await desk.told("switch_mode", mode="code")
        assert desk.desk.mode == "architect"


async def test_the_same_mode_and_an_unknown_one_are_not_asked_about(bench: Benches) -> None:
    async with bench(rules=(Rule(effect="deny", everything=True),)) as desk:
        assert "already" in await desk.told("switch_mode", mode="ask")
        assert "Invalid enum value" in await desk.fault("switch_mode", mode="yolo")


async def test_tools_that_change_something_are_not_run_while_only_a_plan_is_wanted(bench: Benches) -> None:
    async with bench() as desk:
        await desk.session.set_mode("architect")
        desk.write("a.txt", "a")
        for name, arguments in {
            "write_file": {"path": "b.txt", "content": ""},
            "edit_file": {"path": "a.txt", "edits": [{"old": "a", "new": "b"}]},
            "delete_file": {"path": "a.txt"},
            "move_file": {"source": "a.txt", "target": "b.txt"},
            "run_command": {"command": "touch b.txt"},
        }.items():
            assert "only a plan is wanted" in await desk.fault(name, **arguments)
        assert sorted(path.name for path in desk.project.iterdir()) == ["a.txt"]

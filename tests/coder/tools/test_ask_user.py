"""ask_user and switch_mode."""

from __future__ import annotations

from typing import Any

import pytest

from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.policy.rule import Rule

from .conftest import Harness


async def test_a_choice_is_asked_for_with_a_form(harness: Harness) -> None:
    asked: list[Elicitation] = []

    def elicitation(question: Elicitation) -> dict[str, Any]:
        asked.append(question)
        return {"answer": "blue"}

    async with harness(elicitation=elicitation) as tools:
        told = await tools.call("ask_user", question="Which color?", choices=["red", "blue", "red"])
        assert told == "The user answered: blue"
        assert asked[0].message == "Which color?"
        assert asked[0].schema["properties"]["answer"]["enum"] == ["red", "blue"]
        assert (tools.shown.title, tools.shown.kind) == ("Ask: Which color?", "other")
        assert tools.shown.raw_output == {"action": "accept", "answer": "blue"}


async def test_a_free_text_and_several_choices_are_asked_for_with_a_form(harness: Harness) -> None:
    answers: list[Any] = ["tomorrow", ["a", "c"]]
    async with harness(elicitation=lambda question: {"answer": answers.pop(0)}) as tools:
        assert await tools.call("ask_user", question="When?") == "The user answered: tomorrow"
        told = await tools.call("ask_user", question="Which?", choices=["a", "b", "c"], multiple=True)
        assert told == "The user answered: a, c"


@pytest.mark.parametrize(
    "reply, words",
    [
        (Reply(action="decline"), "declined to answer"),
        (Reply(action="cancel"), "dismissed the question"),
        (Reply(action="accept", content={"answer": "green"}), "didn't match"),
        (Reply(action="accept", content={}), "didn't match"),
    ],
)
async def test_the_model_learns_that_there_was_no_answer(
    harness: Harness, reply: Reply, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.client.handlers._check_filled", lambda *_: None)  # other clients may send anything
    async with harness(elicitation=lambda question: reply) as tools:
        assert words in await tools.call("ask_user", question="Which?", choices=["red", "blue"])


async def test_without_forms_a_choice_is_asked_for_as_a_permission(harness: Harness) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> str:
        asked.append(request)
        return "1"

    async with harness(permissions=permissions) as tools:
        assert await tools.call("ask_user", question="Which?", choices=["red", "blue"]) == "The user answered: blue"
    assert [option.name for option in asked[0].options] == ["red", "blue", "Cancel"]


async def test_without_forms_a_free_question_is_sent_as_text_and_answered_by_the_next_prompt(harness: Harness) -> None:
    async with harness() as tools:
        assert "End your turn now" in await tools.call("ask_user", question="What now?")
        assert "What now?" in tools.session.transcript.text


async def test_a_single_choice_is_rejected(harness: Harness) -> None:
    async with harness() as tools:
        assert "at least two" in await tools.call_failing("ask_user", question="Which?", choices=["red"])
        assert "at least two" in await tools.call_failing("ask_user", question="Which?", multiple=True)


async def test_ready_to_implement_shows_the_plan_and_switches(harness: Harness) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    async with harness(permissions=permissions) as tools:
        await tools.session.set_mode("architect")
        await tools.call("set_plan", steps=[{"content": "write it"}])
        told = await tools.call("switch_mode", mode="code", reason="The plan is complete.")
        assert "the mode is now code" in told
        assert tools.state.mode == "code"
        assert "code" in [option.value for option in tools.session.transcript.options]
        (request,) = asked
        assert request.tool_call is not None
        assert (request.tool_call.title, request.tool_call.kind) == ("Ready to implement?", "switch_mode")
        words = str(request.tool_call.content)
        assert "write it" in words and "The plan is complete." in words
        assert [option.kind for option in request.options] == ["allow_once", "reject_once"]


@pytest.mark.parametrize("answer, words", [(False, "said no"), (None, "closed the question")])
async def test_without_the_users_consent_the_mode_stays(harness: Harness, answer: bool | None, words: str) -> None:
    async with harness(permissions=lambda request: answer) as tools:
        await tools.session.set_mode("architect")
        assert words in await tools.call("switch_mode", mode="code")
        assert tools.state.mode == "architect"


async def test_the_same_mode_and_an_unknown_one_are_not_asked_about(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="deny", everything=True),)) as tools:
        assert "already" in await tools.call("switch_mode", mode="ask")
        assert "mode can't be 'yolo'; it is one of" in await tools.call_failing("switch_mode", mode="yolo")


async def test_tools_that_change_something_are_not_run_while_only_a_plan_is_wanted(harness: Harness) -> None:
    async with harness() as tools:
        await tools.session.set_mode("architect")
        tools.write("a.txt", "a")
        for name, arguments in {
            "write_file": {"file_path": "b.txt", "content": ""},
            "edit_file": {"file_path": "a.txt", "edits": [{"old_string": "a", "new_string": "b"}]},
            "delete_file": {"file_path": "a.txt"},
            "move_file": {"source": "a.txt", "destination": "b.txt"},
            "run_command": {"command": "touch b.txt"},
        }.items():
            assert "only a plan is wanted" in await tools.call_failing(name, **arguments)
        assert sorted(path.name for path in tools.project.iterdir()) == ["a.txt"]

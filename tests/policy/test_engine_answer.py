"""Asking the user, and remembering the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from policy.fixtures import HOME, PROJECT, policy, read, request, run, write

from accord.model.requests import PermissionOption
from accord.model.tool import Location, ToolCall
from accord.policy.action import Action
from accord.policy.decision import Decision, select_option
from accord.policy.question import Choice, Question, Reply
from accord.policy.remembered_rules import RememberedRules
from accord.policy.rule import Rule, format_rule

EDIT = ToolCall(id="1", kind="edit", locations=[Location(path=f"{PROJECT}/src/a.py")])


class Person:
    """Somebody who answers, and remembers what was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question)
        return self.replies.pop(0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_no_question_is_asked_if_a_rule_decides() -> None:
    person = Person()
    judged = policy("allow command:make", "deny command:rm")
    assert (await judged.answer(run("make"), ask=person)).effect == "allow"
    assert (await judged.answer(run("rm x"), ask=person)).effect == "deny"
    assert person.asked == []


async def test_the_question_contains_the_action_the_reason_and_the_choices() -> None:
    person = Person(False)
    await policy().answer(run("make test"), ask=person)
    [question] = person.asked
    assert question.action.command == "make test"
    assert question.why == "no rule covers this (make test)"
    assert [choice.id for choice in question.choices] == [
        "allow_once",
        "allow_session",
        "allow_always",
        "allow_prefix",
        "reject_once",
        "reject_always",
    ]


@pytest.mark.parametrize(
    "reply, effect",
    [
        (True, "allow"),
        (False, "deny"),
        (None, "deny"),
        ("allow_once", "allow"),
        ("nonsense", "deny"),
        ("reject_always", "deny"),
    ],
)
async def test_an_answer_is_a_choice_or_its_id_or_yes_or_no(reply: Reply, effect: str) -> None:
    decision = await policy().answer(run("make"), ask=Person(reply))
    assert (decision.effect, decision.by) == (effect, "person")


async def test_a_choice_that_was_not_offered_allows_nothing() -> None:
    for choice in (
        Choice(id="mine", name="", kind="allow_once"),
        Choice(id="reject_once", name="", kind="allow_always", scope="forever"),
    ):
        assert (await policy().answer(run("make"), ask=Person(choice))).effect == "deny"


async def test_with_nobody_to_ask_it_is_denied() -> None:
    decision = await policy().answer(run("make"))
    assert (decision.effect, decision.by) == ("deny", "nobody")
    assert decision.why == "no one to ask: no rule covers this (make)"


async def test_unanswered_at_the_deadline_is_denied_and_the_question_is_withdrawn() -> None:
    deadline, withdrawn, asked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(question: Question) -> Reply:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        return True

    waiting = asyncio.create_task(policy().answer(run("make"), ask=slow, deadline=deadline.wait()))
    await asked.wait()
    assert not waiting.done()
    deadline.set()
    decision = await waiting
    assert (decision.effect, decision.by) == ("deny", "deadline")
    assert withdrawn.is_set()


async def test_a_deadline_may_be_a_number_of_seconds() -> None:
    async def never(question: Question) -> Reply:
        await asyncio.Event().wait()
        return True

    assert (await policy().answer(run("make"), ask=never, deadline=0)).by == "deadline"
    assert (await policy().answer(run("make"), ask=Person(True), deadline=60)).effect == "allow"


async def test_a_question_that_is_cancelled_is_withdrawn() -> None:
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def slow(question: Question) -> Reply:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        return True

    task = asyncio.create_task(policy().answer(run("make"), ask=slow, deadline=asyncio.Event().wait()))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert withdrawn.is_set()


async def test_an_error_while_asking_is_logged_and_allows_nothing() -> None:
    async def fail(question: Question) -> Reply:
        raise RuntimeError("no screen")

    with pytest.raises(RuntimeError, match="no screen"):
        await policy().answer(run("make"), ask=fail)


async def test_once_is_once() -> None:
    person = Person(True, True)
    judged = policy()
    await judged.answer(run("make"), ask=person)
    await judged.answer(run("make"), ask=person)
    assert len(person.asked) == 2


async def test_a_rule_for_once_is_used_up() -> None:
    judged = policy("allow command:make scope:once")
    assert judged.decide(run("make")).effect == "allow"
    assert judged.decide(run("make")).effect == "allow"  # to look is not to use
    assert (await judged.answer(run("make && make"))).effect == "allow"
    assert (await judged.answer(run("make"))).effect == "deny"


async def test_for_the_session_is_until_it_ends_and_in_no_other() -> None:
    judged = policy()
    assert (await judged.answer(run("make"), ask=Person("allow_session"))).effect == "allow"
    assert (await judged.answer(run("make"))).effect == "allow"
    assert (await judged.answer(structs.replace(run("make"), session="s2"))).effect == "deny"
    judged.end_session("s1")
    assert (await judged.answer(run("make"))).effect == "deny"


@pytest.mark.parametrize(
    "action, reply, remembered",
    [
        (run("make test"), "allow_always", ["allow command:make test"]),
        (run("git commit -m 'a b'"), "allow_always", ["allow command:git commit -m 'a b'"]),
        (run("make test"), "reject_always", ["deny command:make test"]),
        (run("a && b"), "allow_always", ["allow line:a && b"]),
        (run("make > log"), "allow_always", ["allow line:make > log"]),
        (run("ls *.py"), "allow_always", ["allow line:ls *.py"]),
        (run("bash -lc 'make test'"), "allow_always", ["allow line:bash -lc 'make test'"]),
        (run("python - <<'E'\nx\nE"), "allow_always", ["allow line:\"python - <<'E'\\nx\\nE\""]),
        (
            Action.of_terminal("git", ["log", "a b"], shell=False, project=PROJECT),
            "allow_always",
            ["allow command:git log 'a b'"],
        ),
        (write("src/a.py"), "allow_always", ["allow write:src/a.py"]),
        (write("src/[a].py"), "allow_always", ["allow write:src/\\[a].py"]),
        (write("src/a.py"), "allow_folder", ["allow write:src/*"]),
        (write("a.py"), "allow_folder", ["allow write:*"]),
        (write("/other/a.py"), "allow_always", ["allow write:/other/a.py"]),
        (read("/other/a.py"), "allow_always", ["allow read:/other/a.py"]),
        (write("src/a.py"), "reject_always", ["deny write:src/a.py"]),
        (Action(kind="fetch", url="https://a.b/c?d"), "allow_always", ["allow url:https://a.b/c\\?d"]),
        (Action(kind="mcp", title="Drop it", tool_kind="other"), "reject_always", ["deny kind:other title:Drop it"]),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_always_is_remembered_narrowly(action: Action, reply: str, remembered: list[str], tmp_path: Path) -> None:
    memory = RememberedRules(tmp_path / "permissions.toml", clock=lambda: 1000.0)
    judged = policy(remembered=memory)
    decision = await judged.answer(action, ask=Person(reply))
    assert [format_rule(rule) for rule in memory.rules(PROJECT)] == remembered
    assert decision.why.endswith(f"and remembered: {'; '.join(remembered)}")
    again = await policy(remembered=memory).answer(action)
    assert (again.effect, again.source) == (decision.effect, "remembered")


@pytest.mark.parametrize(
    "action",
    [
        run("f() { a; }; f"),
        run("make", env={"LD_PRELOAD": "x"}),
        run("make", cwd="/other"),
        write("accord.toml"),
        Action(kind="mcp", title="Read a file", tool_kind="read"),
        Action(kind="fetch", url="https://me@a.b/"),
    ],
    ids=["unjudged", "environment", "elsewhere", "protected", "kind and title alone", "odd address"],
)
async def test_allow_always_is_not_offered_if_it_cannot_be_remembered(action: Action) -> None:
    person = Person(False)
    await policy().answer(action, ask=person)
    assert [choice for choice in person.asked[0].choices if choice.kind == "allow_always"] == []


async def test_the_agents_own_options_are_the_choices_of_its_request(tmp_path: Path) -> None:
    memory = RememberedRules(tmp_path / "permissions.toml")
    person = Person("id-allow_always")
    judged = policy(remembered=memory)
    asked = request(EDIT)
    decision = await judged.answer(asked, ask=person)
    assert [choice.id for choice in person.asked[0].choices] == [option.id for option in asked.options]
    assert person.asked[0].request is asked
    assert (decision.effect, decision.option) == ("allow", "id-allow_always")
    assert [format_rule(rule) for rule in memory.rules(PROJECT)] == ["allow write:src/a.py"]


@pytest.mark.parametrize("id, name", [("allow_session", "Allow"), ("2", "Yes, and don't ask again this Session")])
async def test_an_option_that_mentions_the_session_is_forgotten_with_it(tmp_path: Path, id: str, name: str) -> None:
    memory = RememberedRules(tmp_path / "permissions.toml")
    judged = policy(remembered=memory)
    asked = request(EDIT)
    asked = structs.replace(asked, options=[PermissionOption(id=id, name=name, kind="allow_always")])
    assert (await judged.answer(asked, ask=Person(id))).effect == "allow"
    assert memory.rules(PROJECT) == []
    assert judged.decide(write("src/a.py")).effect == "allow"
    assert judged.decide(structs.replace(write("src/a.py"), session="s2")).effect == "ask"


async def test_always_about_a_kind_and_a_title_alone_is_not_remembered(tmp_path: Path) -> None:
    memory = RememberedRules(tmp_path / "permissions.toml")
    decision = await policy(remembered=memory).answer(
        request(ToolCall(id="1", kind="other", title="Run it")), ask=Person("id-allow_always")
    )
    assert (decision.effect, memory.rules(PROJECT)) == ("allow", [])


async def test_a_choice_may_be_given_a_time_to_live(tmp_path: Path) -> None:
    clock = Clock()
    memory = RememberedRules(tmp_path / "permissions.toml", clock=clock)

    async def for_an_hour(question: Question) -> Reply:
        choice = question.choice("allow_always")
        assert choice is not None
        return structs.replace(choice, ttl=3600.0)

    judged = policy(remembered=memory, clock=clock)
    await judged.answer(run("make"), ask=for_an_hour)
    clock.now += 3599
    assert judged.decide(run("make")).effect == "allow"
    clock.now += 1
    assert judged.decide(run("make")).effect == "ask"


async def test_a_rule_that_cannot_be_saved_is_remembered_for_the_session(tmp_path: Path) -> None:
    (tmp_path / "permissions.toml").write_text("this is no TOML")
    judged = policy(remembered=RememberedRules(tmp_path / "permissions.toml"))
    assert (await judged.answer(run("make"), ask=Person("allow_always"))).effect == "allow"
    assert (await judged.answer(run("make"))).effect == "allow"
    assert any("remembered for this session only" in note for note in judged.notes)


async def test_a_deny_rule_added_while_the_user_is_asked_wins() -> None:
    judged = policy()

    async def late(question: Question) -> Reply:
        judged.add(Rule(effect="deny", command=("make",)))
        return True

    assert (await judged.answer(run("make"), ask=late)).effect == "deny"


async def test_an_action_approved_in_advance_is_not_asked_again() -> None:
    judged = policy()
    person = Person(True, True)
    assert (await judged.answer(request(EDIT), ask=person)).effect == "allow"
    done = await judged.answer(write("src/a.py"))
    assert (done.effect, done.by) == ("allow", "grant")
    assert (await judged.answer(write("src/a.py"))).effect == "deny"  # once
    await judged.answer(request(command="make | tee x", cwd=PROJECT), ask=person)
    assert (await judged.answer(run("make | tee y"))).effect == "deny"
    assert (await judged.answer(run("make | tee x", env={"PATH": "/evil"}))).effect == "deny"
    assert (await judged.answer(run("make | tee x"))).effect == "allow"


@pytest.mark.parametrize("line", ["make | tee x", 'for i in 1 2; do printf "\\033[3${i}m$i\\n"; done'])
async def test_a_line_that_was_allowed_may_be_run_by_a_shell_that_is_named(line: str) -> None:
    judged = policy()

    def by(*argv: str) -> Action:
        command, *args = argv
        return Action.of_terminal(command, args, shell=False, cwd=PROJECT, session="s1", project=PROJECT)

    await judged.answer(request(command=line, cwd=PROJECT), ask=Person(True))
    assert judged.decide(by("/bin/bash", "-c", line)).effect == "allow"
    assert judged.decide(by("/bin/bash", "-c", f"{line}; make clean")).effect == "ask"
    assert judged.decide(by("./bash", "-c", line)).effect == "ask"


async def test_what_was_allowed_for_another_session_or_long_ago_or_denied_since_is_asked() -> None:
    clock = Clock()
    judged = policy(clock=clock)
    await judged.answer(request(EDIT), ask=Person(True))
    assert (await judged.answer(structs.replace(write("src/a.py"), session="s2"))).effect == "deny"
    assert judged.decide(write("src/a.py")).effect == "allow"
    clock.now += 601
    assert judged.decide(write("src/a.py")).effect == "ask"
    await judged.answer(request(EDIT), ask=Person(True))
    judged.end_session("s1")
    assert judged.decide(write("src/a.py")).effect == "ask"
    await judged.answer(request(EDIT), ask=Person(True))
    judged.add(Rule(effect="deny", path=("src/**",)))
    assert judged.decide(write("src/a.py")).effect == "deny"


async def test_to_ask_again_is_to_be_asked_again() -> None:
    person = Person(True, False)
    judged = policy()
    assert (await judged.answer(request(EDIT), ask=person)).effect == "allow"
    assert (await judged.answer(request(EDIT), ask=person)).effect == "deny"


async def test_a_rejected_request_grants_nothing() -> None:
    judged = policy()
    await judged.answer(request(EDIT), ask=Person(False))
    assert judged.decide(write("src/a.py")).effect == "ask"


@pytest.mark.req("V1-PERM-06", "V1-PERM-07", "V2-PERM-07", "V2-PERM-09")
@pytest.mark.parametrize(
    "flags, kinds, answered",
    [
        (["allow write:src/**"], ("allow_once", "allow_always", "reject_once"), "id-allow_once"),
        (["allow write:src/**"], ("allow_always", "reject_once"), "id-allow_always"),
        (["allow write:src/**"], ("reject_once", "reject_always"), None),
        (["allow write:src/**"], ("_custom",), None),
        (["allow write:src/**"], (), None),
        (["deny write:src/**"], ("allow_once", "reject_always", "reject_once"), "id-reject_once"),
        (["deny write:src/**"], ("allow_once", "reject_always"), "id-reject_always"),
        (["deny write:src/**"], ("allow_once",), None),
        ([], ("allow_once", "reject_once"), "id-reject_once"),  # nobody to ask
    ],
)
async def test_a_decision_is_answered_in_the_agents_options(
    flags: list[str], kinds: tuple[str, ...], answered: str | None
) -> None:
    asked = request(EDIT, kinds=kinds)
    option = select_option(asked, await policy(*flags).answer(asked))
    assert (option.id if option else None) == answered


@pytest.mark.req("V1-PERM-11")
async def test_a_request_without_options_is_not_asked_about() -> None:
    person = Person()
    asked = request(EDIT, kinds=())
    decision = await policy().answer(asked, ask=person)
    assert (decision.effect, person.asked, select_option(asked, decision)) == ("deny", [], None)


async def test_the_answer_is_the_option_that_the_user_chose() -> None:
    asked = request(EDIT, kinds=("allow_once", "allow_always", "_custom", "reject_once", "reject_always"))
    for id in ("id-allow_once", "id-allow_always", "id-_custom", "id-reject_once", "id-reject_always"):
        decision = await policy().answer(asked, ask=Person(id))
        option = select_option(asked, decision)
        assert option is not None and option.id == id
        assert decision.allowed is option.allows


async def test_a_choice_that_was_overruled_is_not_answered() -> None:
    judged = policy()
    asked = request(EDIT)

    async def late(question: Question) -> Reply:
        judged.add(Rule(effect="deny", path=("**",)))
        return "id-allow_once"

    option = select_option(asked, await judged.answer(asked, ask=late))
    assert option is not None and option.id == "id-reject_once"


def test_an_option_that_allows_never_answers_a_denial() -> None:
    asked = request(EDIT)
    denied = Decision(effect="deny", by="person", why="", option="id-allow_once")
    option = select_option(asked, denied)
    assert option is not None and option.id == "id-reject_once"
    assert select_option(asked, Decision(effect="ask", by="default", why="")) is None


async def test_a_request_is_judged_for_the_agent_and_project_of_the_policy() -> None:
    settings: dict[str, Any] = {"agent": "scribe"}
    asked = request(command="make")
    assert (await policy("allow command:make agent:scribe", **settings).answer(asked)).effect == "allow"
    assert (await policy("allow command:make agent:other", **settings).answer(asked)).effect == "deny"
    assert HOME != PROJECT

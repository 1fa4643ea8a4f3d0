"""delete_file and move_file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client.local import LocalWorkspace
from accord.model.requests import PermissionRequest
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Benches


async def test_a_file_is_deleted_and_what_goes_is_shown(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        file = desk.write("a.txt", "one\n")
        assert await desk.told("delete_file", path="a.txt") == "Deleted a.txt."
        assert not file.exists()
        shown = desk.shown
        assert (shown.title, shown.kind, shown.status) == ("Delete a.txt", "delete", "completed")
        assert "-one\n" in shown.diffs[0].patch


async def test_a_file_that_is_no_text_can_be_deleted_too(bench: Benches) -> None:
    async with bench() as desk:
        file = desk.write("data.bin", b"\0\1\2")
        await desk.told("delete_file", path="data.bin")
        assert not file.exists()
        assert desk.shown.diffs[0].changes[0].path == str(file)


async def test_of_a_link_the_link_is_deleted(bench: Benches, project: Path) -> None:
    async with bench() as desk:
        secret = project.parent / "other" / "secret.txt"
        (project / "link").symlink_to(secret)
        await desk.told("delete_file", path="link")
        assert not (project / "link").is_symlink()
        assert secret.exists()
        assert "the secret" not in str(desk.shown.content)


async def test_a_file_is_moved(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.write("a.txt", "one\n")
        assert await desk.told("move_file", source="a.txt", target="deep/b.txt") == "Moved a.txt to deep/b.txt."
        assert desk.text("deep/b.txt") == "one\n"
        assert not (desk.project / "a.txt").exists()
        shown = desk.shown
        assert (shown.title, shown.kind) == ("Move a.txt to deep/b.txt", "move")
        assert shown.locations == [Location(path=str(desk.project / name)) for name in ("a.txt", "deep/b.txt")]


async def test_nothing_is_replaced_by_moving(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("a.txt", "one\n")
        desk.write("b.txt", "two\n")
        desk.write("deep/c.txt", "")
        assert "exists already" in await desk.fault("move_file", source="a.txt", target="b.txt")
        assert "is a directory" in await desk.fault("move_file", source="a.txt", target="deep")
        assert "exists already" in await desk.fault("move_file", source="a.txt", target="a.txt")
        assert desk.text("b.txt") == "two\n"


async def test_a_target_that_appears_while_the_user_thinks_is_not_replaced(bench: Benches, project: Path) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "b.txt").write_text("theirs\n")
        return True

    async with bench(rules=(), permissions=permissions) as desk:
        desk.write("a.txt", "one\n")
        assert "was not moved" in await desk.fault("move_file", source="a.txt", target="b.txt")
        assert desk.text("b.txt") == "theirs\n"
        assert desk.text("a.txt") == "one\n"


async def test_moving_is_asked_about_once(bench: Benches) -> None:
    requests: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        requests.append(request)
        return True

    async with bench(rules=(), permissions=permissions) as desk:
        desk.write("a.txt", "one\n")
        await desk.told("move_file", source="a.txt", target="b.txt")
    assert len(requests) == 1


@pytest.mark.parametrize("denied", ["from/**", "to/**"])
async def test_a_rule_about_either_end_holds_for_moving(bench: Benches, denied: str) -> None:
    async with bench(rules=(Rule(effect="deny", path=(denied,), access="write"), *ALLOWED)) as desk:
        desk.write("from/a.txt", "one\n")
        assert "not allowed" in await desk.fault("move_file", source="from/a.txt", target="to/a.txt")
        assert desk.text("from/a.txt") == "one\n"


async def test_directories_are_left_alone(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("src/a.txt", "")
        assert "is a directory" in await desk.fault("delete_file", path="src")
        assert "is a directory" in await desk.fault("move_file", source="src", target="lib")
        assert "is a directory" in await desk.fault("delete_file", path=".")


async def test_what_is_not_there_is_told_with_what_is(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("notes.md", "")
        assert "did you mean notes.md?" in await desk.fault("delete_file", path="note.md")
        assert "did you mean notes.md?" in await desk.fault("move_file", source="note.md", target="x.md")


async def test_a_file_that_changed_while_the_user_thought_stays(bench: Benches, project: Path) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "a.txt").write_text("precious\n")
        return True

    async with bench(rules=(), permissions=permissions) as desk:
        for name, arguments in (("delete_file", {"path": "a.txt"}), ("move_file", {"source": "a.txt", "target": "b"})):
            desk.write("a.txt", "dispensable\n")
            assert "has changed" in await desk.fault(name, **arguments)
            assert desk.text("a.txt") == "precious\n"


class TestOnScreen:
    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_what_has_unsaved_changes_is_neither_deleted_nor_moved(self, bench: Benches, project: Path) -> None:
        overlay = Overlay()
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with bench(workspace=workspace) as desk:
            desk.write("a.txt", "saved\n")
            overlay.show(str(project / "a.txt"), "unsaved\n")
            assert "unsaved changes" in await desk.fault("delete_file", path="a.txt")
            assert "unsaved changes" in await desk.fault("move_file", source="a.txt", target="b.txt")
            assert desk.text("a.txt") == "saved\n"

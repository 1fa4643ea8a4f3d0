"""move_or_delete, also by the names of its two halves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client.local_workspace import LocalWorkspace
from accord.model.requests import PermissionRequest
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule, parse_rule
from accord.workspace.disk import Disk
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Harness


async def test_a_file_is_deleted_and_its_text_is_shown(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        file = tools.write("a.txt", "one\n")
        assert await tools.call("move_or_delete", operation="delete", file_path="a.txt") == "Deleted a.txt."
        assert not file.exists()
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == ("Delete a.txt", "delete", "completed")
        assert "-one\n" in shown.diffs[0].patch


async def test_a_binary_file_can_be_deleted(harness: Harness) -> None:
    async with harness() as tools:
        file = tools.write("data.bin", b"\0\1\2")
        await tools.call("move_or_delete", operation="delete", file_path="data.bin")
        assert not file.exists()
        assert tools.shown.diffs[0].changes[0].path == str(file)


async def test_deleting_a_link_does_not_delete_its_target(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        secret = project.parent / "other" / "secret.txt"
        (project / "link").symlink_to(secret)
        await tools.call("move_or_delete", operation="delete", file_path="link")
        assert not (project / "link").is_symlink()
        assert secret.exists()
        assert "the secret" not in str(tools.shown.content)


async def test_a_file_is_moved(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "one\n")
        assert (
            await tools.call("move_or_delete", operation="move", file_path="a.txt", destination="deep/b.txt")
            == "Moved a.txt to deep/b.txt."
        )
        assert tools.text("deep/b.txt") == "one\n"
        assert not (tools.project / "a.txt").exists()
        shown = tools.shown
        assert (shown.title, shown.kind) == ("Move a.txt to deep/b.txt", "move")
        assert shown.locations == [Location(path=str(tools.project / name)) for name in ("a.txt", "deep/b.txt")]


async def test_nothing_is_replaced_by_moving(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "one\n")
        tools.write("b.txt", "two\n")
        tools.write("deep/c.txt", "")
        assert "already exists" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="a.txt", destination="b.txt"
        )
        assert "is a directory" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="a.txt", destination="deep"
        )
        assert "already exists" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="a.txt", destination="a.txt"
        )
        assert tools.text("b.txt") == "two\n"


async def test_a_target_that_appears_during_the_permission_request_is_not_replaced(
    harness: Harness, project: Path
) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "b.txt").write_text("theirs\n")
        return True

    async with harness(rules=(), permissions=permissions) as tools:
        tools.write("a.txt", "one\n")
        assert "couldn't move" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="a.txt", destination="b.txt"
        )
        assert tools.text("b.txt") == "theirs\n"
        assert tools.text("a.txt") == "one\n"


async def test_moving_is_asked_about_once(harness: Harness) -> None:
    requests: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        requests.append(request)
        return True

    async with harness(rules=(), permissions=permissions) as tools:
        tools.write("a.txt", "one\n")
        await tools.call("move_or_delete", operation="move", file_path="a.txt", destination="b.txt")
    assert len(requests) == 1


@pytest.mark.parametrize("denied", ["from/**", "to/**"])
async def test_a_rule_about_either_path_applies_to_moving(harness: Harness, denied: str) -> None:
    async with harness(rules=(Rule(effect="deny", path=(denied,), access="write"), *ALLOWED)) as tools:
        tools.write("from/a.txt", "one\n")
        assert "not allowed" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="from/a.txt", destination="to/a.txt"
        )
        assert tools.text("from/a.txt") == "one\n"


@pytest.mark.parametrize("rule", ["deny path:.env", "deny read:.env", "deny write:.env"])
@pytest.mark.parametrize(
    "tool, arguments", [("delete_file", {"path": ".env"}), ("move_file", {"source": ".env", "destination": "b.txt"})]
)
async def test_a_denied_file_is_refused_before_its_text_is_read_and_shown(
    harness: Harness, rule: str, tool: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> str:
        raise AssertionError("the denied file was read")

    monkeypatch.setattr(Disk, "read", read)
    async with harness(rules=(parse_rule(rule), *ALLOWED)) as tools:
        tools.write(".env", "KEY=secret\n")
        assert "not allowed: " in await tools.call_failing(tool, **arguments)
        assert tools.shown.diffs == []
        assert tools.text(".env") == "KEY=secret\n"


async def test_directories_are_left_alone(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("src/a.txt", "")
        assert "is a directory" in await tools.call_failing("move_or_delete", operation="delete", file_path="src")
        assert "is a directory" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="src", destination="lib"
        )
        assert "is a directory" in await tools.call_failing("move_or_delete", operation="delete", file_path=".")


async def test_a_missing_file_is_reported_with_similar_names(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("notes.md", "")
        assert "did you mean notes.md?" in await tools.call_failing(
            "move_or_delete", operation="delete", file_path="note.md"
        )
        assert "did you mean notes.md?" in await tools.call_failing(
            "move_or_delete", operation="move", file_path="note.md", destination="x.md"
        )


async def test_a_file_that_changed_during_the_permission_request_stays(harness: Harness, project: Path) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "a.txt").write_text("precious\n")
        return True

    async with harness(rules=(), permissions=permissions) as tools:
        for name, arguments in (
            ("delete_file", {"path": "a.txt"}),
            ("move_file", {"source": "a.txt", "destination": "b"}),
        ):
            tools.write("a.txt", "dispensable\n")
            assert "has changed" in await tools.call_failing(name, **arguments)
            assert tools.text("a.txt") == "precious\n"


class TestOnScreen:
    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_a_file_with_unsaved_changes_is_neither_deleted_nor_moved(
        self, harness: Harness, project: Path
    ) -> None:
        overlay = Overlay()
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with harness(workspace=workspace) as tools:
            tools.write("a.txt", "saved\n")
            overlay.show(str(project / "a.txt"), "unsaved\n")
            assert "unsaved changes" in await tools.call_failing(
                "move_or_delete", operation="delete", file_path="a.txt"
            )
            assert "unsaved changes" in await tools.call_failing(
                "move_or_delete", operation="move", file_path="a.txt", destination="b.txt"
            )
            assert tools.text("a.txt") == "saved\n"


async def test_a_move_needs_a_destination_and_a_deletion_has_none(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "")
        assert "destination is missing" in await tools.call_failing("move_file", source="a.txt")
        told = await tools.call_failing("move_or_delete", operation="delete", file_path="a.txt", destination="b.txt")
        assert "operation=move" in told
        assert tools.text("a.txt") == ""


async def test_the_names_of_both_halves_imply_the_operation(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "")
        assert await tools.call("functions.mv", source="a.txt", to="b.txt") == "Moved a.txt to b.txt."
        assert await tools.call("delete_file", path="b.txt") == "Deleted b.txt."
        assert not list(tools.project.iterdir())

"""Every tool that takes a path, tried with paths that lead out of the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.model.requests import PermissionRequest
from accord.testing import ScriptedClient

from .conftest import ALLOWED, Harness

PATHS = (
    "../other/secret.txt",
    "src/../../other/secret.txt",
    "{outside}/secret.txt",
    "/etc/passwd",
    "/proc/self/environ",
    "link-to-folder/secret.txt",
    "link-to-file",
    "up-link/other/secret.txt",
    "chain",
    "{project}2/secret.txt",
    "src/link-out/other/secret.txt",
    "//etc/passwd",
    "~/../../etc/passwd/../../../etc/passwd",
)
"""Paths that lead to something outside, or nowhere."""

TOOLS: dict[str, dict[str, Any]] = {
    "read_file": {},
    "list_files": {},
    "find_files": {"pattern": "*"},
    "search": {"pattern": "secret"},
    "outline": {},
    "show_changes": {},
    "edit_file": {"edits": [{"old_string": "secret", "new_string": "PWNED"}]},
    "write_file": {"content": "PWNED"},
    "run_command": {"command": "cat secret.txt; echo PWNED > pwned"},
    "delete_file": {},
}


def furnish(project: Path) -> None:
    outside = project.parent / "other"
    twin = project.parent / "project2"
    twin.mkdir()
    (twin / "secret.txt").write_text("the secret\n")
    (project / "src").mkdir()
    (project / "link-to-folder").symlink_to(outside)
    (project / "link-to-file").symlink_to(outside / "secret.txt")
    (project / "up-link").symlink_to("..")
    (project / "chain").symlink_to("link-to-file")
    (project / "src/link-out").symlink_to("../..")


def state(project: Path) -> dict[str, str]:
    """Return the state of everything outside the project."""
    files = [*(project.parent / "other").rglob("*"), *(project.parent / "project2").rglob("*")]
    return {str(file): file.read_text() for file in files if file.is_file()}


def fill_in(path: str, project: Path) -> str:
    return path.format(project=project, outside=project.parent / "other")


@pytest.mark.parametrize("name", TOOLS)
async def test_nothing_outside_is_read_or_changed(
    harness: Harness, lent: dict[str, Any], project: Path, name: str
) -> None:
    furnish(project)
    before = state(project)
    # Reading outside is for the user to decide; everything else is refused, whatever the rules allow.
    rules = () if name in ("read_file", "search", "list_files", "find_files") else ALLOWED
    async with harness(rules=rules, permissions=lambda request: False, **lent) as tools:
        for path in PATHS:
            key = "cwd" if name == "run_command" else "path"
            whole = fill_in(path, project)
            result = await tools.use(name, **{key: whole}, **TOOLS[name])
            deletes_a_link = name == "delete_file" and path in ("link-to-file", "chain")
            assert result.failed or deletes_a_link, (path, result.text)
            told = f"{result.text} {tools.shown.content} {tools.shown.raw_output}"
            assert "the secret" not in told and "root:" not in told and "PATH=" not in told, path
    assert state(project) == before


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_moved_in_or_out(harness: Harness, project: Path, path: str) -> None:
    furnish(project)
    before = state(project)
    async with harness() as tools:
        tools.write("ours.txt", "ours\n")
        await tools.call_failing(
            "move_or_delete", operation="move", file_path=fill_in(path, project), destination="stolen.txt"
        )
        await tools.call_failing(
            "move_or_delete",
            operation="move",
            file_path="ours.txt",
            destination=fill_in(path, project).replace("secret", "planted"),
        )
        assert tools.text("ours.txt") == "ours\n"
        assert not (project / "stolen.txt").exists()
    assert state(project) == before


async def test_walks_do_not_follow_links_out(harness: Harness, project: Path) -> None:
    furnish(project)
    async with harness() as tools:
        for name, arguments in {
            "list_files": {"depth": 9},
            "find_files": {"pattern": "*secret*"},
            "search": {"pattern": "the secret"},
            "outline": {},
            "find_symbol": {"name": "secret"},
        }.items():
            told = await tools.call(name, **arguments)
            assert "secret.txt" not in told and "the secret\n" not in told, name


async def test_only_regular_files_are_opened(harness: Harness, lent: dict[str, Any], project: Path) -> None:
    os.mkfifo(project / "fifo")
    async with harness(**lent) as tools:
        for name in ("read_file", "edit_file", "write_file", "delete_file", "outline", "search"):
            assert "FIFO" in await tools.call_failing(name, path="fifo", **TOOLS[name])
        await tools.call("search", pattern="x")
        await tools.call("outline")


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5_000, "a/" * 3_000])
async def test_invalid_paths_are_an_error(harness: Harness, path: str) -> None:
    async with harness() as tools:
        for name in ("read_file", "write_file", "edit_file", "delete_file"):
            assert f"{name} failed" not in await tools.call_failing(name, path=path, **TOOLS[name])


class TestWithTheClientsFiles:
    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_a_client_that_would_serve_anything_is_not_asked_for_what_is_outside(
        self, harness: Harness, project: Path
    ) -> None:
        furnish(project)
        client = ScriptedClient(files={fill_in(path, project): "planted\n" for path in PATHS})
        files = dict(client.files)
        async with harness(client) as tools:
            for path in PATHS:
                for name in ("read_file", "edit_file", "write_file", "outline"):
                    result = await tools.use(name, path=fill_in(path, project), **TOOLS[name])
                    assert (result.failed or name == "read_file") and "planted" not in result.text, (name, path)
        assert client.files == files


async def test_a_file_outside_is_read_if_the_user_allows_it(
    harness: Harness, lent: dict[str, Any], project: Path
) -> None:
    furnish(project)
    secret = project.parent / "other" / "secret.txt"
    asked: list[str] = []

    def permissions(request: PermissionRequest) -> bool:
        assert request.tool_call is not None
        asked.append(request.tool_call.title)
        return True

    async with harness(rules=(), permissions=permissions, **lent) as tools:
        assert "the secret" in await tools.call("read_file", path=str(secret))
        assert "the secret" in await tools.call("read_file", path="chain")
        assert "1: the secret" in await tools.call("search", pattern="secret", path="../other")
        assert "secret.txt  11 bytes" in await tools.call("list_files", path="../other")
        assert "1 file:\nlink-to-folder/secret.txt" in await tools.call(
            "list_files", path="link-to-folder", pattern="*.txt"
        )
        assert "src/" in await tools.call("list_files", path=str(project))
    assert asked == [
        f"Read {secret} (outside the project)",
        f"Read {secret} (outside the project)",
        *[f"Read {secret.parent} (outside the project)"] * 3,
    ], "the user sees the file that is read, not the link"


async def test_a_link_swapped_after_the_answer_is_decided_again(harness: Harness, project: Path) -> None:
    furnish(project)
    twin = project.parent / "project2" / "secret.txt"
    asked: list[str] = []

    def permissions(request: PermissionRequest) -> bool:
        assert request.tool_call is not None
        asked.append(request.tool_call.title)
        (project / "link-to-file").unlink()
        (project / "link-to-file").symlink_to(twin)
        return len(asked) == 1

    async with harness(rules=(), permissions=permissions) as tools:
        told = await tools.call_failing("read_file", path="link-to-file")
    assert "the secret" not in told
    assert asked[1] == f"Read {twin} (outside the project)"


async def test_keys_and_passwords_are_asked_about_each_time(harness: Harness, home: Path) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_rsa").write_text("the key\n")
    asked: list[list[str]] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append([option.kind for option in request.options])
        return True

    async with harness(permissions=permissions) as tools:
        for _ in range(2):
            assert "the key" in await tools.call("read_file", path=str(home / ".ssh" / "id_rsa"))
        assert "the key" not in await tools.call("search", pattern="the key", path=str(home))
    assert asked == [["allow_once", "reject_once"]] * 2, "no rule allows them, and no answer is remembered"

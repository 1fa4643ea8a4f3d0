"""Every tool that takes a path, tried with paths that lead out of the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.testing import ScriptedClient

from .conftest import Benches

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
    "edit_file": {"edits": [{"old": "secret", "new": "PWNED"}]},
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
    """All that is outside."""
    files = [*(project.parent / "other").rglob("*"), *(project.parent / "project2").rglob("*")]
    return {str(file): file.read_text() for file in files if file.is_file()}


def spelled(path: str, project: Path) -> str:
    return path.format(project=project, outside=project.parent / "other")


@pytest.mark.parametrize("name", TOOLS)
async def test_nothing_outside_is_read_or_changed(
    bench: Benches, lent: dict[str, Any], project: Path, name: str
) -> None:
    furnish(project)
    before = state(project)
    async with bench(**lent) as desk:
        for path in PATHS:
            key = "cwd" if name == "run_command" else "path"
            whole = spelled(path, project)
            result = await desk.use(name, **{key: whole}, **TOOLS[name])
            deletes_a_link = name == "delete_file" and path in ("link-to-file", "chain")
            assert result.failed or deletes_a_link, (path, result.text)
            told = f"{result.text} {desk.shown.content} {desk.shown.raw_output}"
            assert "the secret" not in told and "root:" not in told and "PATH=" not in told, path
    assert state(project) == before


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_moved_in_or_out(bench: Benches, project: Path, path: str) -> None:
    furnish(project)
    before = state(project)
    async with bench() as desk:
        desk.write("ours.txt", "ours\n")
        await desk.fault("move_file", source=spelled(path, project), target="stolen.txt")
        await desk.fault("move_file", source="ours.txt", target=spelled(path, project).replace("secret", "planted"))
        assert desk.text("ours.txt") == "ours\n"
        assert not (project / "stolen.txt").exists()
    assert state(project) == before


async def test_walks_do_not_follow_links_out(bench: Benches, project: Path) -> None:
    furnish(project)
    async with bench() as desk:
        for name, arguments in {
            "list_files": {"depth": 9},
            "find_files": {"pattern": "*secret*"},
            "search": {"pattern": "the secret"},
            "outline": {},
            "find_symbol": {"name": "secret"},
        }.items():
            told = await desk.told(name, **arguments)
            assert "secret.txt" not in told and "the secret\n" not in told, name


async def test_what_is_no_file_is_not_opened(bench: Benches, lent: dict[str, Any], project: Path) -> None:
    os.mkfifo(project / "fifo")
    async with bench(**lent) as desk:
        for name in ("read_file", "edit_file", "write_file", "delete_file", "outline", "search"):
            assert "FIFO" in await desk.fault(name, path="fifo", **TOOLS[name])
        await desk.told("search", pattern="x")
        await desk.told("outline")


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5_000, "a/" * 3_000])
async def test_paths_that_are_none_are_told(bench: Benches, path: str) -> None:
    async with bench() as desk:
        for name in ("read_file", "write_file", "edit_file", "delete_file"):
            await desk.fault(name, path=path, **TOOLS[name])


class TestWithTheClientsFiles:
    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_a_client_that_would_serve_anything_is_not_asked_for_what_is_outside(
        self, bench: Benches, project: Path
    ) -> None:
        furnish(project)
        client = ScriptedClient(files={spelled(path, project): "the secret\n" for path in PATHS})
        files = dict(client.files)
        async with bench(client) as desk:
            for path in PATHS:
                for name in ("read_file", "edit_file", "write_file", "outline"):
                    result = await desk.use(name, path=spelled(path, project), **TOOLS[name])
                    assert result.failed and "the secret" not in result.text, (name, path)
        assert client.files == files

"""read_file: the result for the model, and what the user sees."""

from __future__ import annotations

from typing import Any

import pytest

from accord.client.local_workspace import LocalWorkspace
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Harness


async def test_a_file_is_read_and_shown(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("src/app.py", "one\ntwo\n")
        assert await tools.call("read_file", file_path="src/app.py") == "one\ntwo\n"
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == ("Read src/app.py", "read", "completed")
        assert shown.locations == [Location(path=str(tools.project / "src/app.py"))]
        assert tools.shown_text == "```py\none\ntwo\n```"
        assert shown.raw_input == {"file_path": "src/app.py"}
        assert shown.raw_output["lines"] == 2


async def test_some_lines_are_read(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "".join(f"{number}\n" for number in range(1, 11)))
        told = await tools.call("read_file", file_path="a.txt", offset=4, limit=2)
        assert told == "4\n5\n[lines 4 to 5 of 10; continue with offset=6]\n"
        assert tools.shown.title == "Read a.txt from line 4 to 5"
        assert tools.shown.locations == [Location(path=str(tools.project / "a.txt"), line=4)]
        assert await tools.call("read_file", file_path="a.txt", offset=9) == "9\n10\n[lines 9 to 10 of 10]\n"
        assert (
            await tools.call("read_file", file_path="a.txt", offset=11)
            == "[there is no line 11; the file has 10 lines]"
        )


async def test_a_model_that_writes_numbers_as_text_is_understood(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "1\n2\n3\n")
        assert await tools.call("read_file", file_path="a.txt", offset="2", limit="1") == (
            "2\n[lines 2 to 2 of 3; continue with offset=3]\n"
        )
        assert await tools.call("read_file", file_path="a.txt", offset=0, limit=0) == "1\n2\n3\n"
        assert "limit" in await tools.call_failing("read_file", file_path="a.txt", limit="all of it")
        assert "path" in await tools.call_failing("read_file")


async def test_a_long_file_is_read_in_parts(harness: Harness, lent: dict[str, Any]) -> None:
    whole = "".join(f"line {number}\n" for number in range(1, 4_501))
    async with harness(**lent) as tools:
        tools.write("long.txt", whole)
        first = await tools.call("read_file", file_path="long.txt")
        assert first.endswith("line 2000\n[lines 1 to 2,000 of 4,500; continue with offset=2001]\n")
        second = await tools.call("read_file", file_path="long.txt", offset=2001)
        third = await tools.call("read_file", file_path="long.txt", offset=4001)
        assert "".join(part.rsplit("[", 1)[0] for part in (first, second, third)) == whole


async def test_a_huge_file_is_not_read_whole(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("huge.txt", "x" * 99 + "\n" + ("y" * 99 + "\n") * 30_000)
        told = await tools.call("read_file", file_path="huge.txt", limit=2)
        assert told == "x" * 99 + "\n" + "y" * 99 + "\n[lines 1 to 2; continue with offset=3]\n"
        told = await tools.call("read_file", file_path="huge.txt", offset=30_000)
        assert told.endswith("[lines 30,000 to 30,001 of 30,001]\n")


async def test_the_result_has_a_size_limit(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("wide.txt", ("x" * 1_000 + "\n") * 200)
        told = await tools.call("read_file", file_path="wide.txt")
        assert len(told) < 61_000
        assert told.endswith("[lines 1 to 59 of 200; continue with offset=60]\n")
        tools.write("one.txt", "z" * 500_000)
        told = await tools.call("read_file", file_path="one.txt")
        assert told == "z" * 2_000 + " [… 498,000 more characters in this line]"
        assert len(tools.shown_text) < 17_000


async def test_crlf_line_endings_are_mentioned_once(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("dos.txt", "one\r\ntwo\r\n")
        told = await tools.call("read_file", file_path="dos.txt")
        assert told == "one\ntwo\n[this file has CRLF line endings; edits keep them]\n"


async def test_text_that_has_fences_is_shown_in_longer_ones(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.md", "```py\nx\n```\n")
        await tools.call("read_file", file_path="a.md")
        assert tools.shown_text == "````md\n```py\nx\n```\n````"


async def test_an_empty_file_is_reported_as_empty(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("empty", "")
        assert await tools.call("read_file", file_path="empty") == "[the file is empty]"


@pytest.mark.parametrize(
    "data, words",
    [
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"\x7fELF\x02\0\0", "a program (ELF)"),
        (b"abc\0def", "binary data"),
        (b"caf\xe9", "not UTF-8"),
        ("läßt".encode("utf-16"), "UTF-16"),
    ],
)
async def test_a_binary_file_is_rejected_with_its_type(
    harness: Harness, lent: dict[str, Any], data: bytes, words: str
) -> None:
    async with harness(**lent) as tools:
        tools.write("file", data)
        assert words in await tools.call_failing("read_file", file_path="file")
        assert tools.shown.status == "failed"
        assert words in tools.shown_text


async def test_a_missing_file_is_an_error_that_suggests_similar_names(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("src/reading.py", "")
        tools.write("README.md", "")
        assert "did you mean src/reading.py?" in await tools.call_failing("read_file", file_path="src/readin.py")
        assert "did you mean README.md?" in await tools.call_failing("read_file", file_path="readme.md")
        assert "did you mean src/reading.py?" in await tools.call_failing("read_file", file_path="lib/reading.py")
        assert "list_files" in await tools.call_failing("read_file", file_path="zzzzzz")
        assert "did you mean" in await tools.call_failing("read_file", file_path="src/reading.py/more/reading.py")


async def test_a_directory_is_not_read(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("src/a.py", "")
        assert "list_files" in await tools.call_failing("read_file", file_path="src")


async def test_a_rule_that_denies_applies_to_reading(harness: Harness) -> None:
    rules = (Rule(effect="deny", path=("**/.env",)), *ALLOWED)
    async with harness(rules=rules) as tools:
        tools.write(".env", "KEY=1")
        assert "not allowed" in await tools.call_failing("read_file", file_path=".env")
        assert "KEY" not in tools.shown_text


async def test_reading_in_the_project_needs_no_permission(harness: Harness) -> None:
    def permissions(request: Any) -> bool:
        raise AssertionError("the user must not be asked")

    async with harness(rules=(), permissions=permissions) as tools:
        tools.write("src/a.py", "def f(): pass\n")
        for name, arguments in {
            "read_file": {"file_path": "src/a.py"},
            "list_files": {},
            "find_files": {"pattern": "*.py"},
            "search": {"pattern": "def"},
            "outline": {},
            "find_symbol": {"name": "f"},
        }.items():
            await tools.call(name, **arguments)


async def test_the_additional_directories_can_be_read(harness: Harness, project: Any) -> None:
    other = project.parent / "other"
    async with harness(additional=(str(other),)) as tools:
        assert await tools.call("read_file", file_path=str(other / "secret.txt")) == "the secret\n"
        assert await tools.call("read_file", file_path="../other/secret.txt") == "the secret\n"


class TestUnsaved:
    """Unsaved buffers, which only clients of version 1 lend."""

    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_unsaved_changes_are_seen(self, harness: Harness, project: Any) -> None:
        overlay = Overlay()
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with harness(workspace=workspace) as tools:
            tools.write("a.py", "saved\n")
            overlay.show(str(project / "a.py"), "on screen\nmore\n")
            overlay.show(str(project / "new.py"), "never = saved\n")
            assert await tools.call("read_file", file_path="a.py") == "on screen\nmore\n"
            assert await tools.call("read_file", file_path="new.py") == "never = saved\n"
            assert "        1  never" in await tools.call("outline", path="new.py")
            assert await tools.call("read_file", file_path="a.py", offset=2) == "more\n[lines 2 to 2 of 2]\n"

    async def test_an_unusual_error_for_a_missing_file_is_understood(self, harness: Harness, project: Any) -> None:
        async with harness(ScriptedClient(files={})) as tools:
            tools.write("src/there.py", "")
            assert "did you mean src/there.py?" in await tools.call_failing("read_file", file_path="src/ther.py")

    async def test_files_outside_are_not_read_through_the_client(self, harness: Harness, project: Any) -> None:
        client = ScriptedClient(files={str(project.parent / "other/secret.txt"): "the client's\n"})
        async with harness(client) as tools:
            assert await tools.call("read_file", file_path="../other/secret.txt") == "the secret\n"

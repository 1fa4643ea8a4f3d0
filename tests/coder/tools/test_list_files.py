"""list_files: directories, and files by name."""

from __future__ import annotations

import os
from pathlib import Path

from accord.model.tool import Location

from .conftest import Harness


async def test_a_directory_is_listed(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("src/app.py", "x" * 1_500)
        tools.write("src/deep/er/a.py", "")
        tools.write(".env", "abc")
        tools.write(".gitignore", "node_modules/\n*.log\n")
        tools.write("node_modules/x/y.js", "")
        tools.write("a.log", "")
        (tools.project / "link").symlink_to("src")
        told = await tools.call("list_files")
        assert told.splitlines() == [
            ".env  3 bytes  (hidden)",
            ".gitignore  20 bytes  (hidden)",
            "link  (link)",
            "src/",
            "[ignored by .gitignore: a.log, node_modules/]",
        ]
        assert (tools.shown.title, tools.shown.kind) == ("List .", "read")
        assert tools.shown.locations == [Location(path=str(tools.project))]
        told = await tools.call("list_files", path="src", depth=3)
        assert told.splitlines() == ["app.py  1.5 kB", "deep/", "  er/", "    a.py  0 bytes"]
        assert "a.py" not in await tools.call("list_files", path="src", depth=2)
        assert await tools.call("list_files", path="link", depth=1) == "app.py  1.5 kB\ndeep/"


async def test_a_listing_is_limited(harness: Harness) -> None:
    async with harness() as tools:
        for number in range(510):
            tools.write(f"{number:03}.txt", "")
        told = await tools.call("list_files")
        assert len(told.splitlines()) == 501
        assert "there are more than these 500" in told


async def test_only_directories_can_be_listed(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "")
        (tools.project / "empty").mkdir()
        assert "read_file" in await tools.call_failing("list_files", path="a.txt")
        assert "there is no file" in await tools.call_failing("list_files", path="nowhere")
        assert await tools.call("list_files", path="empty") == "[the directory is empty]"
        assert "depth" in await tools.call_failing("list_files", depth="deep")


async def test_files_are_found_by_name(harness: Harness) -> None:
    async with harness() as tools:
        for path in ("a.py", "src/b.py", "src/deep/c.py", "src/d.pyc", "build/e.py", ".hidden/f.py", ".git/g.py"):
            tools.write(path, "")
        tools.write(".gitignore", "build/\n")
        assert await tools.call("list_files", pattern="*.py") == (
            "4 files:\n.hidden/f.py\na.py\nsrc/b.py\nsrc/deep/c.py"
        )
        assert await tools.call("list_files", pattern="src/*.py") == "1 file:\nsrc/b.py"
        assert await tools.call("list_files", pattern="./src/**/*.py") == "2 files:\nsrc/b.py\nsrc/deep/c.py"
        assert await tools.call("list_files", pattern="*.py", path="src/deep") == "1 file:\nsrc/deep/c.py"
        assert await tools.call("list_files", pattern="{a,b}.py") == "2 files:\na.py\nsrc/b.py"
        assert await tools.call("list_files", pattern="*.rs") == (
            "No matching files: checked 6 files, without those ignored by .gitignore."
        )
        assert tools.shown.title == "Find *.rs"


async def test_names_that_are_not_valid_utf8_are_listed(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        os.mkfifo(bytes(project) + b"/caf\xe9.txt")
        os.mkfifo(project / "fifo.txt")
        tools.write("läßt.txt", "")
        assert (await tools.call("list_files")).splitlines() == [
            r"caf\xe9.txt  (name isn't valid text; can't be used)",
            "fifo.txt  (special file)",
            "läßt.txt  0 bytes",
        ]
        assert await tools.call("list_files", pattern="*.txt") == "1 file:\nläßt.txt"
        assert "läßt" in await tools.call("outline")


async def test_the_number_of_found_files_is_limited(harness: Harness) -> None:
    async with harness() as tools:
        for number in range(510):
            tools.write(f"deep/{number:03}.txt", "")
        told = await tools.call("list_files", pattern="*.txt")
        assert told.startswith("500 files:") and told.endswith("give a narrower pattern or path]")

"""list_files and find_files."""

from __future__ import annotations

import os
from pathlib import Path

from accord.model.tool import Location

from .conftest import Benches


async def test_a_directory_is_listed(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("src/app.py", "x" * 1_500)
        desk.write("src/deep/er/a.py", "")
        desk.write(".env", "abc")
        desk.write(".gitignore", "node_modules/\n*.log\n")
        desk.write("node_modules/x/y.js", "")
        desk.write("a.log", "")
        (desk.project / "link").symlink_to("src")
        told = await desk.told("list_files")
        assert told.splitlines() == [
            ".env  3 bytes  (hidden)",
            ".gitignore  20 bytes  (hidden)",
            "link  (link)",
            "src/",
            "[left out because of .gitignore: a.log, node_modules/]",
        ]
        assert (desk.shown.title, desk.shown.kind) == ("List .", "read")
        assert desk.shown.locations == [Location(path=str(desk.project))]
        told = await desk.told("list_files", path="src", depth=3)
        assert told.splitlines() == ["app.py  1.5 kB", "deep/", "  er/", "    a.py  0 bytes"]
        assert "a.py" not in await desk.told("list_files", path="src", depth=2)
        assert await desk.told("list_files", path="link", depth=1) == "app.py  1.5 kB\ndeep/"


async def test_a_listing_has_bounds(bench: Benches) -> None:
    async with bench() as desk:
        for number in range(510):
            desk.write(f"{number:03}.txt", "")
        told = await desk.told("list_files")
        assert len(told.splitlines()) == 501
        assert "there are more than these 500" in told


async def test_what_is_no_directory_is_not_listed(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("a.txt", "")
        (desk.project / "empty").mkdir()
        assert "read_file" in await desk.fault("list_files", path="a.txt")
        assert "there is no file" in await desk.fault("list_files", path="nowhere")
        assert await desk.told("list_files", path="empty") == "[the directory is empty]"
        assert "depth" in await desk.fault("list_files", depth=0)


async def test_files_are_found_by_name(bench: Benches) -> None:
    async with bench() as desk:
        for path in ("a.py", "src/b.py", "src/deep/c.py", "src/d.pyc", "build/e.py", ".hidden/f.py", ".git/g.py"):
            desk.write(path, "")
        desk.write(".gitignore", "build/\n")
        assert await desk.told("find_files", pattern="*.py") == (
            "4 files:\n.hidden/f.py\na.py\nsrc/b.py\nsrc/deep/c.py"
        )
        assert await desk.told("find_files", pattern="src/*.py") == "1 file:\nsrc/b.py"
        assert await desk.told("find_files", pattern="./src/**/*.py") == "2 files:\nsrc/b.py\nsrc/deep/c.py"
        assert await desk.told("find_files", pattern="*.py", path="src/deep") == "1 file:\nsrc/deep/c.py"
        assert await desk.told("find_files", pattern="{a,b}.py") == "2 files:\na.py\nsrc/b.py"
        assert await desk.told("find_files", pattern="*.rs") == "No file has such a name."
        assert desk.shown.title == "Find *.rs"


async def test_names_that_are_no_text_are_no_trouble(bench: Benches, project: Path) -> None:
    async with bench() as desk:
        os.mkfifo(bytes(project) + b"/caf\xe9.txt")
        os.mkfifo(project / "fifo.txt")
        desk.write("läßt.txt", "")
        assert (await desk.told("list_files")).splitlines() == [
            r"caf\xe9.txt  (a name that is no text: it cannot be asked for)",
            "fifo.txt  (no file)",
            "läßt.txt  0 bytes",
        ]
        assert await desk.told("find_files", pattern="*.txt") == "1 file:\nläßt.txt"
        assert "läßt" in await desk.told("outline")


async def test_finding_has_bounds(bench: Benches) -> None:
    async with bench() as desk:
        for number in range(510):
            desk.write(f"deep/{number:03}.txt", "")
        told = await desk.told("find_files", pattern="*.txt")
        assert told.startswith("500 files:") and told.endswith("give a narrower pattern or path]")

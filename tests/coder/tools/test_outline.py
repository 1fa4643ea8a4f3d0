"""outline: structure, definitions and uses."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.tools.project import ripgrep
from accord.coder.tools.project.symbols import symbols_of
from accord.model.tool import Location
from accord.policy.rule import Rule

from .conftest import ALLOWED, Harness, ToolHarness

PYTHON = '''\
"""What this module is for.

More of it."""

import os

LIMIT: int = 3
first, second = 1, 2


class Session(Base, key=1):
    """A session."""

    kind = "x"

    @property
    def name(self) -> str:
        return "name"

    async def close(self, *, wait: bool = True) -> None:
        def inner() -> None: ...


if os.name == "nt":

    def only_there(): ...

else:

    def only_here(): ...
'''


async def test_a_python_file_is_parsed(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("src/app.py", PYTHON)
        told = await tools.call("outline", path="src/app.py")
        assert told.splitlines() == [
            "src/app.py: 30 lines. What this module is for.",
            "        7  LIMIT",
            "        8  first",
            "        8  second",
            "    11-21  class Session(Base, key=1)",
            "       14    kind",
            "    17-18    def name(self) -> str",
            "    20-21    async def close(self, *, wait: bool=True) -> None",
            "       26  def only_there()",
            "       30  def only_here()",
        ]
        assert "inner" not in told
        assert (tools.shown.title, tools.shown.kind) == ("Outline src/app.py", "read")


@pytest.mark.parametrize(
    "name, text, expected",
    [
        (
            "a.ts",
            "export default class Foo {\n  async run(x: number): Promise<void> {\n    if (x) {\n    }\n  }\n}\n"
            "export const f = (a) => 1\nfunction* g() {}\ninterface I {}\nexport type T = string\n",
            "Foo run f g I T",
        ),
        ("a.go", "package x\nfunc (s *S) Run(a int) error {\n}\nfunc Free() {}\ntype S struct {\n}\n", "Run Free S"),
        (
            "a.rs",
            "pub(crate) async fn run<T>() {}\nstruct S;\nimpl Trait for S {\n    fn new() -> Self {}\n}\n",
            "run S Trait|for|S new",
        ),
        (
            "A.java",
            "public final class A {\n  private static int count(String s) {\n    return 1;\n  }\n}\n",
            "A count",
        ),
        ("a.c", "#define MAX 3\nstatic int main(int argc) {\n  foo(1);\n}\nstruct point {\n};\n", "MAX main point"),
        ("a.rb", "module M\n  class C\n    def run!\n    end\n  end\nend\n", "M C run!"),
        ("a.sh", "function go {\n}\nstop() {\n}\n", "go stop"),
        ("a.md", "# One\n```\n# no\n```\n## Two\ntext\n", "One Two"),
        ("a.toml", "[project]\nname = 1\n[tool.x]\n", "project tool.x"),
        ("Makefile", "all: x\n\ttrue\nX := 1\n.PHONY: all\n", "all .PHONY"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS users (id int);\n", "users"),
        ("a.unknown", "function foo()\nclass Bar\n", "foo Bar"),
        ("broken.py", "class A:\n  def f(self:\n", "A f"),
    ],
)
def test_other_languages_are_read_by_lines(name: str, text: str, expected: str) -> None:
    assert [symbol.name.replace(" ", "|") for symbol in symbols_of(name, text)] == expected.split()


def test_no_text_takes_long_or_fails() -> None:
    for name in ("a.py", "a.ts", "a.c", "a.java", "a.md", "a.rs", "a.sql", "a.x"):
        for text in ("(" * 5_000, "a" * 100_000, " " * 100_000, "public static " * 10_000, "\0\x0c\r\n" * 1_000):
            symbols_of(name, text)
    assert symbols_of("a.py", "x = " + "(" * 500 + ")" * 500) == []


async def test_a_directory_is_shown_as_a_tree(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("src/app.py", PYTHON)
        tools.write("README.md", "# Title\n")
        tools.write("data.bin", b"\0" * 2_000)
        tools.write(".gitignore", "build\n")
        tools.write("build/x", "")
        told = await tools.call("outline")
        assert told.splitlines() == [
            f".: 4 files, {(2_014 + len(PYTHON)) / 1_000:.1f} kB",
            ".gitignore  6 bytes",
            "README.md  8 bytes  Title",
            "data.bin  2.0 kB",
            f"src/  (1 file, {len(PYTHON)} bytes)",
            f"  app.py  {len(PYTHON)} bytes  LIMIT, first, second, Session, only_there, only_here",
        ]
        assert tools.shown.title == "Outline the project"


async def test_a_large_tree_is_not_expanded(harness: Harness) -> None:
    async with harness() as tools:
        for folder in range(20):
            for number in range(20):
                tools.write(f"{folder:02}/{number}.txt", "")
        told = await tools.call("outline")
        assert len(told.splitlines()) == 22
        assert "07/  (20 files, 0 bytes)" in told
        assert "not expanded" in told
        assert "3.txt" in await tools.call("outline", path="07")


async def test_protected_files_are_not_searched(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="deny", path=("keys.py",)), *ALLOWED)) as tools:
        tools.write("keys.py", "SECRET_NAME = 1\n")
        told = await tools.call("outline")
        assert "keys.py" in told and "SECRET_NAME" not in told
        assert "not allowed" in await tools.call_failing("outline", path="keys.py")


USES = {
    "app.py": """\
from lib import helper


def main():
    helper(1)  # helper
    'helper'
    x.helper
    f(helper=2)
""",
    "lib.py": """\
def helper(x):
    return helper


class Tool:
    def run(self): ...


class Other:
    def run(self): ...
""",
    "web.ts": "export function helper() {}\n// helper\nhelper()\nhelpers()\n",
    "README.md": "# helper\nUse helper.\n",
}


async def write_sources(tools: ToolHarness) -> None:
    for path, text in USES.items():
        tools.write(path, text)


@pytest.mark.parametrize("engine", ["ripgrep", "own"])
async def test_a_name_is_found_where_it_is_defined(
    harness: Harness, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "own":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    async with harness() as tools:
        await write_sources(tools)
        told = await tools.call("outline", symbol="helper")
        assert told == ("2 lines in 2 files:\nlib.py\n  1: def helper(x):\nweb.ts\n  1: export function helper() {}")
        assert tools.shown.title == "Find where helper is defined"
        assert tools.shown.locations == [
            Location(path=str(tools.project / name), line=1) for name in ("lib.py", "web.ts")
        ]


async def test_a_method_is_found_by_its_class(harness: Harness) -> None:
    async with harness() as tools:
        await write_sources(tools)
        told = await tools.call("outline", symbol="Tool.run")
        assert told == "1 line in 1 file:\nlib.py\n  6:     def run(self): ..."
        assert (await tools.call("outline", symbol="run()")).startswith("2 lines")


async def test_uses_of_a_name_exclude_comments_and_strings_in_python(harness: Harness) -> None:
    async with harness() as tools:
        await write_sources(tools)
        told = await tools.call("outline", symbol="helper", find="uses")
        assert told.splitlines() == [
            "9 lines in 4 files:",
            "README.md",
            "  1: # helper",
            "  2: Use helper.",
            "app.py",
            "  1: from lib import helper",
            "  5:     helper(1)  # helper",
            "  7:     x.helper",
            "  8:     f(helper=2)",
            "lib.py",
            "  2:     return helper",
            "web.ts",
            "  2: // helper",
            "  3: helper()",
        ]


async def test_an_unknown_name_is_an_error(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "nowhere\n")
        told = await tools.call("outline", symbol="nowhere")
        assert told.startswith("nowhere is not defined in 1 file of the working directory.")
        assert told.endswith("The word itself occurs in 1 line; search shows them.")
        assert "is not a name" in await tools.call_failing("outline", symbol="two words")


async def test_symbols_of_the_additional_directories_are_found(harness: Harness, project: Any) -> None:
    other = project.parent / "other"
    (other / "more.py").write_text("def helper(): ...\n")
    async with harness(additional=(str(other),)) as tools:
        assert str(other / "more.py") in await tools.call("outline", symbol="helper")


async def test_a_name_is_found_below_a_path_and_not_outside_the_project(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a/x.py", "def f(): ...\n")
        tools.write("b/y.py", "def f(): ...\n")
        told = await tools.call("outline", symbol="f", path="b")
        assert "b/y.py" in told and "a/x.py" not in told
        assert "outside the project" in await tools.call_failing("outline", symbol="secret", path="../other")


async def test_tools_for_definitions_and_references_of_other_agents_are_understood(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("x.py", "def f(): ...\n\n\nf()\n")
        assert "1: def f" in await tools.call("find_symbol", name="f")
        assert "4: f()" in await tools.call("find_symbol", name="f", what="used")
        assert "4: f()" in await tools.call("find_references", symbol="f")

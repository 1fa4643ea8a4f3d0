"""search: ripgrep and our own implementation give the same results."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.link import until

from accord.coder.history import Call, Result
from accord.coder.tools.project import program, ripgrep
from accord.model.tool import Location
from accord.policy.rule import Rule
from accord.process.child import Child

from .conftest import Harness, ToolHarness, is_alive

CASES: list[dict[str, Any]] = [
    {"pattern": "needle"},
    {"pattern": "needle", "ignore_case": True},
    {"pattern": "NEEDLE"},
    {"pattern": "n.edle"},
    {"pattern": "n.edle", "literal": True},
    {"pattern": "n.edle", "regex": False},
    {"pattern": "^needle$"},
    {"pattern": r"\bneedle\b"},
    {"pattern": r"needle(?=less)|(?<=need)less"},
    {"pattern": "first|LAST|last"},
    {"pattern": r"first\|LAST"},
    {"pattern": "needle("},
    {"pattern": "needle", "output_mode": "files_with_matches"},
    {"pattern": "needle", "output_mode": "count"},
    {"pattern": "needle", "-A": 1, "-B": "1", "-i": True},
    {"pattern": "needle", "type": "py"},
    {"pattern": "needle", "glob": ["*.py", "*.md"]},
    {"pattern": "needle", "path": "src"},
    {"pattern": "needle", "path": "src/app.py"},
    {"pattern": "needle", "path": "build"},
    {"pattern": "needle", "glob": "*.py"},
    {"pattern": "needle", "glob": "*.{py,md}"},
    {"pattern": "needle", "glob": "src/**"},
    {"pattern": "needle", "glob": "src/*.py"},
    {"pattern": "needle", "glob": "**/deep/*"},
    {"pattern": "needle", "glob": "!*.py"},
    {"pattern": "needle", "glob": "!src"},
    {"pattern": "needle", "glob": "[am]*"},
    {"pattern": "-e needle"},
    {"pattern": "--help"},
    {"pattern": "$(touch x); `id`"},
    {"pattern": "läßt", "ignore_case": True},
    {"pattern": "nothing has this"},
    {"pattern": " "},
]


def furnish(tools: ToolHarness) -> None:
    """Create a project with every case that matters."""
    for path, text in {
        "a.txt": "first\nneedle\nlast needle needle\n",
        "README.md": "A Needle here\r\nneedle\r\nno more",
        "src/app.py": "needle = 1\nneedless = 2\n",
        "src/deep/er/x.py": "# needle\n",
        "src/deep/y.txt": "needle",
        ".hidden/z.txt": "needle\n",
        ".env": "needle=hidden\n",
        ".git/config": "needle\n",
        ".gitignore": "build/\n*.log\n!kept.log\n/only-here.txt\ntemp-*/\n",
        "build/out.txt": "needle\n",
        "x.log": "needle\n",
        "kept.log": "needle\n",
        "only-here.txt": "needle\n",
        "src/only-here.txt": "needle\n",
        "temp-1/x.txt": "needle\n",
        "src/.gitignore": "secret.*\n!/x.log\n",
        "src/secret.txt": "needle\n",
        "src/x.log": "needle\n",
        "src/deep/x.log": "needle\n",
        "odd-e.txt": "-e needle --help $(touch x); `id`\n",
        "umlaut.txt": "LÄßT es\n",
        "vendor/inner/.git/HEAD": "ref\n",
        "vendor/inner/build/needle.txt": "needle\n",
        "vendor/inner/.gitignore": "*.tmp\n",
        "vendor/inner/a.tmp": "needle\n",
        ".git/info/exclude": "excluded.txt\n",
        "excluded.txt": "needle\n",
        "src/excluded.txt": "needle\n",
    }.items():
        tools.write(path, text)
    tools.write("data.bin", b"needle\n\0\1\2 needle\n")
    tools.write("latin.txt", "needle caf\xe9\n".encode("latin-1"))
    tools.write("empty.txt", "")
    (tools.project / "linked.txt").symlink_to(tools.project / "a.txt")
    (tools.project / "outside").symlink_to(tools.project.parent / "other")


@pytest.fixture
def version() -> int:
    """One version is enough: results don't depend on it."""
    return 1


@pytest.fixture(params=["ripgrep", "own"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two search engines."""
    if request.param == "own":
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    return str(request.param)


async def all_cases(tools: ToolHarness) -> list[Result]:
    tools.agent.calls = [Call(id=str(id), name="search", arguments=case) for id, case in enumerate(CASES)]
    await tools.session.prompt("go")
    return list(tools.agent.results)


async def test_both_ways_to_search_find_the_same(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ripgrep.find_ripgrep() is not None
    async with harness() as tools:
        furnish(tools)
        by_ripgrep = await all_cases(tools)
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
        by_walk = await all_cases(tools)
    for case, one, other in zip(CASES, by_ripgrep, by_walk, strict=True):
        assert one == other, case
    assert sum("No matches" in result.text for result in by_walk) == 5
    assert not any(result.failed for result in by_walk)


@pytest.mark.parametrize("outer", ["", "*.md\n"], ids=["plain", "a list above"])
async def test_both_engines_agree_outside_a_repository(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, outer: str
) -> None:
    async with harness() as tools:
        furnish(tools)
        shutil.rmtree(tools.project / ".git")
        if outer:
            (tools.project.parent / ".gitignore").write_text(outer)
        one = await tools.call("search", pattern="needle")
        monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
        assert await tools.call("search", pattern="needle") == one
        assert "README.md" in one
        assert "build/out.txt" not in one and "x.log" not in one.replace("src/x.log", "")


async def test_matching_lines_are_grouped_by_file_and_shown_as_locations(harness: Harness, engine: str) -> None:
    async with harness() as tools:
        tools.write("src/app.py", "one\nneedle\n")
        tools.write("a.txt", "needle and needle\n")
        told = await tools.call("search", pattern="needle")
        assert told == "2 lines in 2 files:\na.txt\n  1: needle and needle\nsrc/app.py\n  2: needle"
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == ("Search for needle", "search", "completed")
        assert shown.locations == [
            Location(path=str(tools.project / "a.txt"), line=1),
            Location(path=str(tools.project / "src/app.py"), line=2),
        ]
        assert shown.raw_output["matches"][1] == {
            "path": str(tools.project / "src/app.py"),
            "name": "src/app.py",
            "line": 2,
            "text": "needle",
        }
        assert "src/app.py\n  2: needle" in tools.shown_text


async def test_search_results_are_limited(harness: Harness, engine: str) -> None:
    async with harness() as tools:
        for name in ("a.txt", "b.txt"):
            tools.write(name, "needle\n" * 150)
        told = await tools.call("search", pattern="needle")
        assert told.startswith("200 lines in 2 files:")
        assert told.endswith("[there is more: narrow the pattern, the path or the glob, or raise limit]")
        assert (await tools.call("search", pattern="needle", limit=300)).startswith("300 lines in 2 files:")
        assert "there is more" not in await tools.call("search", pattern="needle", limit=300)
        assert (await tools.call("search", pattern="needle", limit=150)).startswith("150 lines in 1 file:")
        told = await tools.call("search", pattern="needle", limit=100_000)
        assert told.startswith("[limit was reduced to 1000, the maximum]\n300 lines in 2 files:")
        tools.write("wide.js", "x" * 5_000 + "pin" + "y" * 5_000)
        told = await tools.call("search", pattern="pin", path="wide.js")
        assert "pin" in told and len(told) < 400


async def test_an_invalid_pattern_is_searched_as_plain_text_with_a_note(harness: Harness, engine: str) -> None:
    async with harness() as tools:
        tools.write("a.txt", "x\nprint(1)\n")
        told = await tools.call("search", pattern="print(")
        assert told.startswith("[not a valid regular expression (") and told.count("\n") == 3
        assert told.endswith("; searched as plain text]\n1 line in 1 file:\na.txt\n  2: print(1)")
        assert "line by line" in await tools.call_failing("search", pattern="a\nb")
        assert "line by line" in await tools.call_failing("search", pattern=r"a\nb")
        assert "there is no file" in await tools.call_failing("search", pattern="x", path="nowhere")


@pytest.mark.parametrize(
    ("pattern", "note"),
    [
        ("items[0]", "searched as plain text"),
        (r"total\|nothing", r"\| was read as |, as grep does"),
        (r"\\btotal\\b", "double backslashes were read as single ones"),
    ],
)
async def test_a_pattern_that_matches_nothing_is_tried_in_the_other_ways_models_mean_it(
    harness: Harness, engine: str, pattern: str, note: str
) -> None:
    async with harness() as tools:
        tools.write("a.py", "total = items[0]\n")
        told = await tools.call("search", pattern=pattern)
        head = f"[nothing matches the regular expression; {note}]\n"
        assert told == f"{head}1 line in 1 file:\na.py\n  1: total = items[0]"


async def test_a_search_without_matches_says_what_was_searched_and_what_was_skipped(
    harness: Harness, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with harness() as tools:
        tools.write("a.py", "one\n")
        tools.write("src/b.py", "two\n")
        tools.write(".gitignore", "build/\n")
        tools.write("build/c.py", "three\n")
        tools.write("d.bin", b"three\0")
        (tools.project / "link.py").symlink_to("a.py")
        skipped = "ignored by .gitignore: build/; binary: d.bin; links, which aren't followed: link.py"
        told = await tools.call("search", pattern="three")
        assert told == f"No matches in 3 files of the working directory.\n[skipped: {skipped}]"
        assert tools.shown.raw_output == {"matches": [], "complete": True, "searched": 3}
        assert await tools.call("search", pattern="three", path="src") == "No matches in 1 file of src."
        told = await tools.call("search", pattern="one", path="src", glob="*.rs")
        assert told == "No matches in 0 files of src.\n[skipped: 1 file excluded by the glob *.rs]"
        told = await tools.call("search", pattern="three", path="d.bin")
        assert told == "No matches in 0 files of d.bin.\n[skipped: binary: d.bin]"


async def test_lines_around_a_match_are_shown_on_request(harness: Harness, engine: str) -> None:
    async with harness() as tools:
        tools.write("a.txt", "1\n2\nneedle\n4\n5\n6\n7\nneedle\n")
        told = await tools.call("search", pattern="needle", after=1)
        assert told == "2 lines in 1 file:\na.txt\n  3: needle\n  4- 4\n  --\n  8: needle"
        told = await tools.call("search", pattern="needle", **{"-C": 2})
        lines = ["  1- 1", "  2- 2", "  3: needle", "  4- 4", "  5- 5", "  6- 6", "  7- 7", "  8: needle"]
        assert told.splitlines()[2:] == lines


async def test_a_search_can_return_only_files_or_counts(harness: Harness, engine: str) -> None:
    async with harness() as tools:
        tools.write("a.txt", "needle\nneedle\n")
        tools.write("src/b.txt", "needle\n")
        tools.write("c.bin", b"needle\n\0")
        told = await tools.call("search", pattern="needle", output_mode="files_with_matches")
        assert told == "2 files:\na.txt\nsrc/b.txt"
        assert await tools.call("search", pattern="needle", output_mode="count") == (
            "3 lines in 2 files:\na.txt: 2\nsrc/b.txt: 1"
        )
        told = await tools.call("search", pattern="needle", output_mode="count", limit=1)
        assert "src/b.txt" not in told and "there is more" in told


async def test_protected_files_are_left_out(harness: Harness, engine: str) -> None:
    rules = (
        Rule(effect="deny", path=("**/.env",)),
        Rule(effect="ask", path=("private/**",)),
        Rule(effect="allow", path=("**",)),
    )
    async with harness(rules=rules) as tools:
        tools.write(".env", "key = needle\n")
        tools.write("private/diary.txt", "dear needle\n")
        tools.write("public.txt", "a needle\n")
        told = await tools.call("search", pattern="needle")
        assert "public.txt" in told
        assert "key =" not in told and "dear" not in told
        assert "[2 files with matches omitted: protected by the user's rules]" in told
        assert "key =" not in str(tools.shown)
        assert "not allowed" in await tools.call_failing("search", pattern="needle", path=".env")


async def test_cancelling_the_turn_ends_the_search(
    harness: Harness, engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[int] = []

    async def start(argv: Sequence[str], **how: Any) -> Child:
        child = await Child.start(argv, **how)
        started.append(child.pid)
        return child

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    monkeypatch.setattr(program, "Child", SimpleNamespace(start=start))
    # A program that prints nothing and never ends, in place of the search.
    waiting = (["cat", str(fifo)], str(tmp_path), dict(os.environ))
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    monkeypatch.setattr(ripgrep, "_scanner", lambda where, query, roots: waiting)
    async with harness() as tools:
        tools.start_of("search", {"pattern": "needle"})
        turn = asyncio.ensure_future(_stop_reason(tools.session.prompt("go")))
        await until(lambda: started)
        assert is_alive(started[0])
        await tools.session.cancel()
        assert await turn == "cancelled"
        await until(lambda: not is_alive(started[0]))


async def test_a_pattern_without_end_does_not_hold_up_the_agent(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    monkeypatch.setattr(ripgrep, "TIMEOUT_SECONDS", 1.0)
    async with harness() as tools:
        tools.write("a.txt", "a" * 60 + "!\n")
        told = await tools.call("search", pattern="(a+)+$")
        assert "timed out" in told


async def test_the_project_cannot_slip_its_own_modules_into_the_search(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda *_: None)
    async with harness() as tools:
        for name in ("msgspec.py", "re.py", "accord/__init__.py", "sitecustomize.py"):
            tools.write(name, f"open({str(tools.project / 'pwned')!r}, 'w')\n")
        assert "4 lines in 4 files" in await tools.call("search", pattern="pwned")
        assert not (tools.project / "pwned").exists()


async def test_settings_of_ripgrep_do_not_change_what_is_found(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "rc").write_text("--files-with-matches\n--follow\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    async with harness() as tools:
        furnish(tools)
        assert "the secret" not in await tools.call("search", pattern="secret", path=".")
        assert "a.txt\n  2: needle" in await tools.call("search", pattern="needle")


async def test_a_project_behind_a_link_is_searched_under_the_name_it_was_given(
    harness: Harness, engine: str, project: Path, tmp_path: Path
) -> None:
    put_behind_a_link(project, tmp_path / "real")
    async with harness() as tools:
        tools.write("src/a.txt", "needle\n")
        assert "src/a.txt\n  1: needle" in await tools.call("search", pattern="needle")
        assert tools.shown.locations == [Location(path=str(project / "src/a.txt"), line=1)]


def put_behind_a_link(folder: Path, real: Path) -> None:
    folder.rename(real)
    folder.symlink_to(real)


async def _stop_reason(turn: Any) -> Any:
    return (await turn).stop_reason


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("rules", [".gitignore", ".git/info/exclude"])
async def test_endless_ignore_rules_cost_neither_memory_nor_the_result(
    harness: Harness, engine: str, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    """A repository can contain such a link. Ripgrep reads all of it, a gigabyte per second."""
    monkeypatch.setattr(program, "MAX_MEMORY_KIB", 100_000)
    async with harness() as tools:
        tools.write(rules, "").unlink()
        (tools.project / rules).symlink_to("/dev/zero")
        tools.write("a.txt", "apple\n")
        assert await tools.call("search", pattern="apple") == "1 line in 1 file:\na.txt\n  1: apple"

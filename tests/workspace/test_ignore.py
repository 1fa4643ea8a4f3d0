""".gitignore rules, compared with Git itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accord.coder.tools.project.walk import Walk
from accord.workspace.files import Files
from accord.workspace.globs import compile_name_glob
from accord.workspace.ignore import parse, rules_above
from accord.workspace.roots import Roots


def git(folder: Path, *words: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def walk(root: Path, start: Path | None = None) -> list[str]:
    with Roots(str(root)) as roots:
        walk = Walk(Files(roots).disk, str(root), str(start or root), check_wanted=lambda: None)
        return [os.path.relpath(step.path, root) for step in walk.files()]


PATTERNS = """\
# a comment
*.log
!important.log
/top.txt
build/
docs/*.html
**/cache
deep/**/leaf.txt
a/**
[Tt]emp?.txt
name with space\\ \n\
trailing{blanks}
\\#hash
\\!bang
x[!ab]y
/anchored/dir/
*.[oa]
foo/**/bar/**
sub//
/
weird[
"""

FILES = """\
a.log important.log sub/important.log sub/x.log top.txt sub/top.txt build/out.txt sub/build/out.txt buildx/y
docs/a.html docs/sub/a.html docs/a.txt cache/x sub/cache/y deep/leaf.txt deep/1/leaf.txt deep/1/2/leaf.txt
deep/1/other.txt a/1 a/b/2 aa/1 temp1.txt Temp2.txt temp12.txt trailing #hash !bang xay xcy x/y anchored/dir/f
sub/anchored/dir/f m.o m.a m.c foo/bar/z foo/1/bar/z foo/1/baz weird[ kept.txt .hidden sub/.env"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with files of every kind of name."""
    git(tmp_path, "init", "-q")
    for name in [*FILES.split(), "name with space "]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def kept_by_git(root: Path) -> list[str]:
    names = git(root, "ls-files", "--others", "--cached", "--exclude-standard", "-z").split("\0")
    return sorted(filter(None, names))


def test_the_same_files_are_ignored_as_by_git(tree: Path) -> None:
    (tree / ".gitignore").write_text(PATTERNS.replace("{blanks}", "   "))
    (tree / "sub/.gitignore").write_text("!x.log\ntop.txt\n")
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/exclude").write_text("kept.txt\n")
    assert sorted(walk(tree)) == kept_by_git(tree)


PIECES = st.sampled_from(["a", "b", "*", "**", "?", "/", "[ab]", "[!a]", "a*", ".", "ab", "\\a"])
LINES = st.lists(
    st.builds(lambda keep, pieces, end: keep + "".join(pieces) + end, st.sampled_from(["", "", "!"]),
              st.lists(PIECES, min_size=1, max_size=4), st.sampled_from(["", "/"])),
    max_size=4,
)  # fmt: skip


@pytest.mark.slow
def test_any_patterns_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for name in ("a", "b", "ab", "b.a", "d/a", "d/b", "d/ab/a", "d/ab/b", "ba/a/b", "ba/a.b", "aab/ab"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x") if not path.exists() else None

    @settings(max_examples=150, deadline=None)
    @given(LINES)
    def compare(lines: list[str]) -> None:
        # Git's versions disagree about two stars beside other characters.
        assume(not any(re.search(r"[^/!]\*\*|\*\*[^/]|^!?/?\*\*\*", line) for line in lines))
        (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n")
        assert sorted(walk(tmp_path)) == kept_by_git(tmp_path), lines

    compare()


def test_the_rules_of_the_repository_above_hold_in_a_directory_of_it(tree: Path) -> None:
    (tree / ".gitignore").write_text("x.log\n/sub/top.txt\n")
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/exclude").write_text(".env\n")
    names = walk(tree / "sub")
    assert "important.log" in names
    assert not {"x.log", "top.txt", ".env"} & set(names)
    assert rules_above(str(tree / "sub")).agrees_with_ripgrep


def test_an_ignored_directory_is_searched_if_it_is_the_root(tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n")
    assert "x.log" in walk(tree / "sub")
    assert not rules_above(str(tree / "sub")).agrees_with_ripgrep


def test_what_lies_above_no_repository_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("")
    assert walk(tmp_path / "project") == ["a.txt"]
    assert not rules_above(str(tmp_path / "project")).agrees_with_ripgrep


def test_an_inner_repository_has_its_own_rules(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.log\n")
    (tree / "sub/.git").mkdir()
    assert "sub/x.log" in walk(tree)
    assert "a.log" not in walk(tree)


def test_links_are_not_followed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "secret.txt").write_text("")
    (tree / "link").symlink_to(other)
    (tree / "round").symlink_to(tree)
    assert not [name for name in walk(tree) if name.startswith(("link", "round"))]


def test_unreadable_rules_are_ignored() -> None:
    rules = parse("/p", "\n#\n!\n/\n[z-a]\n\ufeff")
    assert rules.check("/p/anything", False) is None
    assert rules.check("/elsewhere/x", False) is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs")
def test_a_fifo_in_place_of_rules_holds_up_nobody(tmp_path: Path) -> None:
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / ".gitignore")
    os.mkfifo(tmp_path / ".git" / "info" / "exclude")
    assert not rules_above(str(tmp_path / "sub")).rules.ignores(str(tmp_path / "sub" / "a"), False)


@pytest.mark.parametrize(
    "glob, yes, no",
    [
        ("*.py", "a.py src/a.py", "a.pyc py"),
        ("src/*.py", "src/a.py", "src/x/a.py a.py x/src/a.py"),
        ("src/**/*.py", "src/a.py src/x/y/a.py", "a.py"),
        ("**/*.py", "a.py x/a.py", "a.txt"),
        ("*.{js,ts}", "a.js x/a.ts", "a.py a.{js"),
        ("{a,b}/*", "a/x b/y", "c/x"),
        ("test_?.py", "test_1.py", "test_12.py test_/.py"),
        ("[!.]*", "a x/b", ".a"),
        ("src/**", "src/a src/x/y", "src a/src/x"),
        ("a{b", "a{b", "ab"),
        ("Makefile", "Makefile x/Makefile", "Makefile.am"),
    ],
)
def test_globs_for_names(glob: str, yes: str, no: str) -> None:
    assert all(compile_name_glob(glob).fullmatch(name) for name in yes.split())
    assert not any(compile_name_glob(glob).fullmatch(name) for name in no.split())


@pytest.mark.parametrize(
    "pattern, name",
    [
        ("*a" * 20 + "*b", "a" * 250),
        ("**/" * 20 + "x", "a/" * 100 + "y"),
        ("**/a/" * 20 + "x", "a/" * 1000 + "y"),
        ("*{a,aa}" * 7 + "*b", "a" * 250),
        ("/*a*a*a/" * 10 + "b", ("a" * 100 + "/") * 20),
    ],
)
def test_hostile_patterns_take_linear_time(pattern: str, name: str) -> None:
    """Backtracking would take longer than the test's timeout, and holds up all threads."""
    assert compile_name_glob(pattern).fullmatch(name) is None
    assert not parse("/p", pattern).check(f"/p/{name}", False)


@pytest.mark.parametrize(
    "glob, yes, no",
    [
        ("*ab*ab", "abab xabyab", "abxa ab"),
        ("*{ab,a}*b", "ab aab abb", "a ba"),
        ("**/a/**/a/b", "a/a/b x/a/y/a/a/b", "a/b x/a/b a/a/c/b"),
        ("{a,b{c,d}}*", "a bc bdx", "b c"),
        ("\\{a,b}", "{a,b}", "a b"),
    ],
)
def test_a_star_that_could_end_in_several_places_finds_each_match(glob: str, yes: str, no: str) -> None:
    test_globs_for_names(glob, yes, no)

"""The files that a sandbox must keep from commands."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from accord.policy import confinement
from accord.policy.confinement import IsProtected, TooLarge, find_confined
from accord.policy.engine import Policy
from accord.policy.rule import Rule


def list_confined(project: Path, *rules: Rule) -> dict[str, set[str]]:
    found = find_confined(str(project), Policy(project, flags=rules))
    groups = {"read_only": found.read_only, "hidden": found.hidden, "links": found.links}
    return {name: {str(Path(path).relative_to(project)) for path in paths} for name, paths in groups.items() if paths}


def write(project: Path, *names: str) -> None:
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("")


def test_protected_files_are_found_at_any_depth(tmp_path: Path) -> None:
    write(
        tmp_path,
        *(".git/config", ".git/hooks/a", "sub/.git", "sub/deep/AGENTS.md", "sub/agents.md", ".env.local", "x/.envrc"),
        *(".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/a.md", "my.code-workspace", "py/pyvenv.cfg", "py/bin/x"),
        *("node_modules/.bin/tool", "node_modules/pkg/AGENTS.md", "src/main.py", "Makefile"),
    )
    (tmp_path / "CLAUDE.md").symlink_to("src/main.py")
    assert list_confined(tmp_path) == {
        "read_only": {
            *(".git", "sub/.git", "sub/deep/AGENTS.md", "sub/agents.md", ".env.local", "x/.envrc"),
            *(".github/workflows", "my.code-workspace", "py", "node_modules/.bin"),
            "src/main.py",  # what a protected name leads to
        },
        "links": {"CLAUDE.md"},
    }


def test_files_that_rules_deny_or_ask_about_are_hidden_or_read_only(tmp_path: Path) -> None:
    write(tmp_path, "private/a", "b.pem", "docs/c", "free")
    rules = [
        Rule(effect="deny", path=("private/**",)),
        Rule(effect="ask", path=("**/*.pem",), access="read"),
        Rule(effect="deny", path=("docs/**",), access="write"),
        Rule(effect="allow", path=("free",)),
    ]
    assert list_confined(tmp_path, *rules) == {"hidden": {"private", "b.pem"}, "read_only": {"docs"}}


def test_a_project_that_cannot_be_confined_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"{number}/.envrc" for number in range(5)))
    monkeypatch.setattr(confinement, "MAX_FOUND", 3)
    with pytest.raises(TooLarge):
        list_confined(tmp_path)
    monkeypatch.setattr(confinement, "MAX_FOUND", 100)
    monkeypatch.setattr(confinement, "MAX_ENTRIES", 3)
    with pytest.raises(TooLarge):
        list_confined(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("/srv/**", [("/srv", "read")]),
        ("/srv/*.key", [("/srv", "read")]),
        ("/srv/a/b", [("/srv/a/b", "read")]),
        ("~/notes/**", [("/home/u/notes", "read")]),
        ("/**", [("/", "read")]),
        ("**/.env", []),
        ("src/**", []),
    ],
)
def test_places_outside_the_project_are_found_in_the_rules(
    tmp_path: Path, pattern: str, places: list[tuple[str, str]]
) -> None:
    rules = [Rule(effect="deny", path=(pattern,))]
    policy = Policy(tmp_path, flags=rules, home="/home/u", resolve=lambda path: path)
    assert policy.restricted_places() == places


def test_a_rule_after_all_others_decides_only_what_they_leave_open(tmp_path: Path) -> None:
    from accord.policy.action import Action

    rules = [Rule(effect="deny", command=("rm *",)), Rule(effect="ask", command=("make *",))]
    policy = Policy(tmp_path, flags=rules)
    everything = Rule(effect="allow", everything=True)

    def decide(line: str) -> str:
        action = Action.of_terminal(line, shell=True, cwd=str(tmp_path), project=str(tmp_path))
        return policy.decide(action, otherwise=everything).effect

    assert [decide(line) for line in ("pytest -q", "rm a", "true && rm a", "make x")] == [
        "allow",
        "deny",
        "deny",
        "ask",
    ]
    assert decide("echo x > AGENTS.md") == "ask", "protected files are asked about"
    assert decide("$(echo rm) a") == "ask", "only the shell knows whether the rule applies"


def test_a_directory_that_cannot_be_listed_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "sub/.git/config", "other/a")
    real_scandir = os.scandir

    def scandir(path: str) -> object:  # as if its owner had removed the right, which doesn't stop root
        if path == str(tmp_path / "sub"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert list_confined(tmp_path) == {"read_only": {"sub"}}


def test_a_directory_whose_path_is_too_long_is_read_only_further_up(tmp_path: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(25):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
        Path(".envrc").write_text("")
    finally:
        os.chdir(here)
    (found,) = list_confined(tmp_path)["read_only"]
    assert found.startswith("x" * 200)


def test_a_file_that_disappears_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ".envrc", "sub/AGENTS.md")
    real_scandir = os.scandir

    def scandir(path: str) -> object:
        entries = list(real_scandir(path))
        (tmp_path / ".envrc").unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(os, "scandir", scandir)
    assert list_confined(tmp_path) == {"read_only": {"sub/AGENTS.md"}}


def test_a_directory_that_is_protected_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("project/.git/hooks", "project/.vscode", "home/.config/nvim/lua", "home/bin"):
        (tmp_path / name).mkdir(parents=True)
        with pytest.raises(IsProtected):
            list_confined(tmp_path / name)
    assert list_confined(tmp_path / "home" / ".config") == {"read_only": {"nvim"}}


def test_a_project_named_like_a_directory_of_packages_is_searched(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/.envrc")
    assert list_confined(tmp_path / "node_modules") == {"read_only": {".envrc"}}


def test_links_that_could_bring_protected_files_or_lead_to_hidden_ones_count(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/.bin/tool", "data/secret")
    (tmp_path / "node_modules").symlink_to("elsewhere")
    (tmp_path / "key.pem").symlink_to("data/secret")
    found = list_confined(tmp_path, Rule(effect="deny", path=("**/*.pem",), access="read"))
    assert found == {
        "links": {"node_modules", "key.pem"},
        "hidden": {"data/secret"},
        "read_only": {"elsewhere/.bin"},
    }

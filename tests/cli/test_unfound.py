"""What a prompt names with `@` and is no file: only what is written like one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli.unfound import unfound


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("words\n")
    (tmp_path / "my notes.txt").write_text("words\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@nothere.txt", ["nothere.txt"]),
        ("look at @nothere.txt, please", ["nothere.txt"]),
        ("look at @nothere.txt:12-40.", ["nothere.txt"]),
        ("line\n@src/nothere.py and @src/main.py", ["src/nothere.py"]),
        ("@src/nothere", ["src/nothere"]),
        ("@./nothere @../no/where @/no/where @~/no/where", ["./nothere", "../no/where", "/no/where", "~/no/where"]),
        ("@src/nothere/", ["src/nothere/"]),
        ('@"my other notes.txt"', ["my other notes.txt"]),
        ("@.env", [".env"]),
        ("@README.MD @README.MD", ["README.MD"]),
        ("@src/main.py/deeper.py", ["src/main.py/deeper.py"]),
    ],
)
def test_what_is_written_like_a_path_and_is_none_is_told(project: Path, text: str, names: list[str]) -> None:
    assert unfound(text, project) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "@src/main.py and @src/ and @src/main.py:3-4 and (@src/main.py).",
        '@"my notes.txt"',
        "@property",
        "@user and @the.user, thanks",
        "@pytest.fixture",
        "@pytest.mark.parametrize('a/b.py', [])",
        '@app.get("/users/list.json")',
        "@Component({selector: 'x.html'})",
        "mail me@example.com or me@example.txt",
        "npm install @types/node @angular/core/testing",
        "ask @org/team",
        "git@github.com:org/repo.git",
        "it is `@nothere.txt` there",
        "```\n@nothere.txt\n```",
        "```py\nan end that never comes @nothere.txt",
        "import x from '@app/nothere.js'",
        "see @https://example.com/nothere.html",
        "@*.py",
        "@" + "a" * 5000 + ".py",
        "@nul\0l.py @" + "../" * 2000 + "x.py",
    ],
)
def test_what_is_there_or_was_never_meant_for_a_file_is_not_told(project: Path, text: str) -> None:
    assert unfound(text, project) == []


def test_of_very_many_only_some_are_told(project: Path) -> None:
    assert len(unfound(" ".join(f"@{number}.txt" for number in range(200)), project)) == 20

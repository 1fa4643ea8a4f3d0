"""Words after `@` in a prompt that name no file: reported only if they look like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.cli.support.attachments import find_missing


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
def test_a_missing_file_is_reported_if_it_looks_like_a_path(project: Path, text: str, names: list[str]) -> None:
    assert find_missing(text, project) == names


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
def test_existing_files_and_other_uses_of_the_at_sign_are_not_reported(project: Path, text: str) -> None:
    assert find_missing(text, project) == []


def test_only_the_first_missing_files_are_reported(project: Path) -> None:
    assert len(find_missing(" ".join(f"@{number}.txt" for number in range(200)), project)) == 20

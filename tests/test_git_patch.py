"""Git patches of one file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from accord.git_patch import git_patch


@pytest.mark.req("V2-DIFF-05")
def test_a_patch_names_files_as_git_does() -> None:
    assert git_patch("/p/a b", "x\n", "y\n").splitlines()[:3] == [
        "diff --git /p/a b /p/a b",
        "--- /p/a b\t",
        "+++ /p/a b\t",
    ]
    assert git_patch('/p/"ü\n', "x\n", None).splitlines()[:4] == [
        'diff --git "/p/\\"\\303\\274\\n" "/p/\\"\\303\\274\\n"',
        "deleted file mode 100644",
        '--- "/p/\\"\\303\\274\\n"',
        "+++ /dev/null",
    ]


@pytest.mark.req("V2-DIFF-05")
def test_a_patch_shows_three_lines_around_each_change() -> None:
    old = [f"{number}\n" for number in range(1, 31)]
    new = ["0\n", *old[:14], "fifteen\n", *old[15:]]
    assert git_patch("/f", "".join(old), "".join(new)) == (
        "diff --git /f /f\n--- /f\n+++ /f\n"
        "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"
        "@@ -12,7 +13,7 @@\n 12\n 13\n 14\n-15\n+fifteen\n 16\n 17\n 18\n"
    )


def test_a_patch_of_much_text_shows_it_as_one_block() -> None:
    old, new = (f"same\n{side}\n" + f"{side}\n" * 30_000 + "end\n" for side in "ab")
    lines = git_patch("/f", old, new, max_comparisons=1000).splitlines()
    assert lines[3:6] == ["@@ -1,30003 +1,30003 @@", " same", "-a"]
    assert lines.count("-a") == lines.count("+b") == 30_001


def test_a_patch_of_unchanged_text_is_empty() -> None:
    assert git_patch("/f", "same\n", "same\n") == ""
    assert git_patch("/g", "same\n", "same\n", operation="move", old_path="/f") == (
        "diff --git /f /g\nrename from /f\nrename to /g\n"
    )


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nc\n"),
        ("", "a\n"),
        ("a", "a\n"),
        ("a\n" * 20 + "x\n", "y\n" + "a\n" * 20),
        ("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n6\n7"),
        ("a\fb\r\n", "a\fc\r\n"),
    ],
)
def test_git_applies_the_patch(tmp_path: Path, old: str, new: str, limit: int | None) -> None:
    file = tmp_path / "f"
    file.write_bytes(old.encode())
    patch = git_patch("f", old, new, max_comparisons=limit)
    subprocess.run(["git", "apply", "-p0", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    assert file.read_bytes() == new.encode()

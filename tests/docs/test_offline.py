"""Every example in docs/offline.md is understood and carried out."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from accord.coder.agent import Coder
from accord.coder.offline.parser import parse
from accord.coder.offline.requests import Unclear, Unknown
from accord.coder.shared_resources import SharedResources
from accord.testing import link

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "offline.md").read_text(encoding="utf-8")
ROWS = [match[2].strip() for match in re.finditer(r"^\| (`+)(.+?)\1 \| .+ \|$", PAGE, re.MULTILINE)]
BLOCKS = [match[2] for match in re.finditer(r"^(`{3,})text\n(.*?)\n\1$", PAGE, re.MULTILINE | re.DOTALL)]
"""One message per line; a list or a code block is one message."""


def messages(block: str) -> list[str]:
    return re.findall(r"1\. .+\n2\. .+|.+\n```\w*\n(?:.+\n)+```|.+", block)


EXAMPLES = [*ROWS, *(message for block in BLOCKS for message in messages(block))]


def test_the_page_has_examples() -> None:
    assert len(ROWS) >= 40
    assert len(EXAMPLES) >= 45


PROJECT = {
    "README.md": "# Demo\n\nAll colours. TODO\n",
    "Makefile": "test:\n\t@echo tested\nlint:\n\t@echo linted\nbuild:\n\t@echo built\n",
    "src/app.py": "import pdb\n\n\nclass Session:\n    pass\n\n\ndef greet():\n    return Session()  # hello TODO\n",
    "tests/test_app.py": "def test_app():\n    pass\n",
    "log.txt": "a line\n" * 30,
    "notes.md": "A note.\n",
    "a.py": "a = 1\n",
    "b.py": "b = 1\n",
    "c.py": "c = 1\n",
    "pyproject.toml": "[project]\n",
    "pytest.py": "print('1 passed')\n",  # a fast stand-in for the real one
}
NOTHING_TO_FETCH = "fetch https://example.com/"


async def test_every_example_of_the_page_is_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    project = tmp_path / "project"
    git = "git init -q && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm first"
    async with link(
        Coder(shared=SharedResources(model="offline")), cwd=str(project), permissions=lambda asked: True
    ) as client:
        for number, example in enumerate(EXAMPLES):
            if example == NOTHING_TO_FETCH:
                continue
            folder = project / str(number)
            for name, text in PROJECT.items():
                if not example.startswith(("create", "1. create")) or name != "notes.md":
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_text(text)
            if re.search("git|chang", example):
                await asyncio.to_thread(subprocess.run, git, shell=True, cwd=folder, check=True)
            session = await client.new_session(str(folder))
            if example.startswith("mark todo"):
                await session.prompt("remember to rest")
            turn = await session.prompt(example)
            assert turn.stop_reason == "end_turn"
            assert not re.search(r"` failed: |don't understand|Found no|Not done|cannot|can't", turn.text), (
                example,
                turn.text,
            )


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_page_is_understood(example: str) -> None:
    steps = parse(example)
    assert not [step for step in steps if isinstance(step, (Unknown, Unclear))], steps


@pytest.mark.parametrize("example", ROWS)
def test_a_row_of_a_table_is_one_request(example: str) -> None:
    assert len(parse(example)) == 1

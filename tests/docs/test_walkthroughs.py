"""Tutorials and recipes work from an empty directory, for a reader who copies every block."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from coder.providers.server import FakeProvider
from docs.walkthroughs import DOCS, ROOT, WALKTHROUGHS, matches, read_steps
from support.ports import find_free_port

PORTS = ("8765", "8000")
"""Ports that the documents use; a test gets free ones instead."""
END_JOBS = "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n"


@pytest.mark.parametrize("document", WALKTHROUGHS, ids=lambda path: path.relative_to(DOCS).as_posix())
async def test_every_step_works_from_an_empty_directory(document: Path, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    ports = {port: str(find_free_port()) for port in PORTS}
    async with FakeProvider() as provider:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ACCORD_", "XDG_"))},
            **provider.environment(),
            "HOME": str(home),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "80",
        }
        place = project
        for step in read_steps(document):
            where = f"{document.relative_to(ROOT)}:{step.line}"
            if step.file:
                (place / step.file).parent.mkdir(parents=True, exist_ok=True)
                (place / step.file).write_text(replace(step.body, ports), encoding="utf-8")
                continue
            status, printed, place = await run(replace(step.body, ports), place, environment)
            assert status == 0, f"{where}: exit status {status}\n{printed}"
            assert "Traceback" not in printed, f"{where}:\n{printed}"
            shown = step.output and replace(step.output, ports)
            assert shown is None or matches(shown, printed), f"{where} shows\n{shown}\nbut it prints\n{printed}"


def replace(text: str, ports: dict[str, str]) -> str:
    for port, free in ports.items():
        text = text.replace(port, free)
    return text


async def run(block: str, place: Path, environment: dict[str, str]) -> tuple[int, str, Path]:
    """Run a block, and return its exit status, its output, and the directory in which it ended."""
    ended_in = Path(environment["HOME"]) / ".ended_in"
    script = f'{END_JOBS}{block}\npwd >"{ended_in}"\n'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-e", "-o", "pipefail", "-c", script),
        cwd=place,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, printed.decode(), Path(ended_in.read_text().strip()) if ended_in.exists() else place


@pytest.mark.parametrize(
    ("shown", "printed", "result"),
    [
        ("one\ntwo", "one\ntwo\n", True),
        ("one\n…\nfour", "one\ntwo\nthree\nfour", True),
        ("one\n…\ntwo", "one\ntwo", True),
        ("o…e", "one", True),
        ("one", "one\ntwo", False),
        ("one\n…", "two\nthree", False),
    ],
)
def test_output_is_compared_with_what_a_document_shows(shown: str, printed: str, result: bool) -> None:
    assert matches(shown, printed) is result


def test_a_block_that_would_not_be_executed_is_reported(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("```python\nprint(1)\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md:1: a block of python needs a title"):
        list(read_steps(document))

"""The documents are true: every Python block runs, and every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs.walkthroughs import WALKTHROUGHS

ROOT = Path(__file__).resolve().parents[2]
PLAYER = Path(__file__).with_name("blocks.py")
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
GENERATED = ROOT / "docs" / "reference"
"""Pages that exist only in the built site; tests/docs/test_site.py checks links to them."""
LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def with_python() -> list[Any]:
    """List the documents with Python blocks. One documents a custom transport, as the protocol requires."""
    rules = {"docs/transports.md": [pytest.mark.req("V1-FRAME-13", "V1-FRAME-15", "V2-FRAME-07", "V2-FRAME-09")]}
    shown = [path for path in DOCUMENTS if "```python" in path.read_text(encoding="utf-8") and path not in WALKTHROUGHS]
    return [pytest.param(path, marks=rules.get(relative(path), []), id=relative(path)) for path in shown]


@pytest.mark.parametrize("document", with_python())
def test_every_block_of_python_runs(document: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "default", str(PLAYER), str(document)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "RuntimeWarning" not in done.stderr, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = [link for link in LINK.findall(text) if not leads_somewhere(link, document)]
    assert broken == []


def leads_somewhere(link: str, document: Path) -> bool:
    if link.startswith(("https://", "http://")):
        return True
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    if target.parent == GENERATED:
        return True
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def test_a_broken_link_would_be_reported() -> None:
    assert not leads_somewhere("docs/nothing.md", ROOT / "README.md")
    assert not leads_somewhere("#no-such-heading", ROOT / "README.md")
    assert leads_somewhere("docs/ledger.csv", ROOT / "README.md")


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```python\nprint(1)\n```\n\n```output\n2\n```\n",
        "```python\na = 1\n```\n\n```python\na\n```\n",
    ],
    ids=["raises", "prints something else", "is not continued"],
)
def test_a_failing_block_would_be_reported(text: str, tmp_path: Path) -> None:
    document = tmp_path / "wrong.md"
    document.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, str(PLAYER), str(document)], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "wrong.md" in done.stderr

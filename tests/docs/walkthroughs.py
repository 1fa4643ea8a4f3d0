"""Documents that the reader follows from an empty directory, from top to bottom.

A block with a title is a file to write: three backticks, `python title="agent.py"`. Blocks for a shell run in order, in
one directory. A block marked `output` below one must match what it printed; `…` matches anything within a line, and a
line that is only `…` any lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WALKTHROUGHS = [
    *(DOCS / f"{name}.md" for name in ("getting-started", "build-an-agent", "build-a-client", "migrating")),
    *sorted((DOCS / "howto").glob("*.md")),
]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
NOT_RUN = {"text", "output", "yaml", "json", ""}
"""Languages of blocks that show something, and of configuration for other programs."""


class Step(NamedTuple):
    """A file to write, or commands to run."""

    line: int
    file: str | None
    body: str
    output: str | None


def read_steps(document: Path) -> Iterator[Step]:
    text = document.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        title, line = TITLE.search(fence[2]), text.count("\n", 0, fence.start()) + 1
        if title:
            yield Step(line, title[1], fence[3], None)
        elif fence[1] == "sh":
            shown = following is not None and following[1] == "output"
            near = following is not None and not text[fence.end() : following.start()].strip()
            yield Step(line, None, fence[3], following[3] if following is not None and shown and near else None)
        elif fence[1] not in NOT_RUN:
            raise ValueError(f"{document.name}:{line}: a block of {fence[1]} needs a title, or isn't executed")


def matches(shown: str, printed: str) -> bool:
    """Return whether the output matches what the document shows."""
    lines = shown.rstrip().split("\n")
    pattern = ("(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines)
    return re.fullmatch("".join(pattern), printed.rstrip() + "\n") is not None

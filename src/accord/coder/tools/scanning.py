"""The search for machines without ripgrep: a program of its own, so that no pattern, however slow, holds up the agent.

It prints what ripgrep would print with `--json`, as far as we read that. `python -m accord.coder.tools.scanning JOB`,
where the job is JSON: the root, the path below it, and the query."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from accord.coder.tools.globs import name_pattern
from accord.coder.tools.seeking import MAX_FILE, Query
from accord.coder.tools.walking import Walk, read_bytes
from accord.workspace.disk import Disk
from accord.workspace.files import Files
from accord.workspace.roots import Roots


class Job(msgspec.Struct):
    """What to do."""

    root: str
    below: str
    query: Query


def main(text: str) -> int:
    """Searches, and prints. Gives the exit status: 0 when something was found, 1 when nothing, 2 for a bad pattern."""
    job = msgspec.json.decode(text, type=Job)
    try:
        pattern = compiled(job.query)
    except re.error as error:
        print(f"regex parse error: {error}", file=sys.stderr)
        return 2
    out = sys.stdout.buffer
    found = False
    with Roots(job.root) as roots:
        for line in _matches(Files(roots).disk, job, pattern):
            found = True
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
    return 0 if found else 1


def compiled(query: Query) -> re.Pattern[str]:
    """A query's pattern."""
    body = query.pattern if query.regex else re.escape(query.pattern)
    if query.word:
        body = rf"(?<!\w)(?:{body})(?!\w)"
    return re.compile(body, re.I if query.ignore_case else 0)


def _matches(disk: Disk, job: Job, pattern: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    start = os.path.join(job.root, job.below) if job.below else job.root
    if os.path.isfile(start):
        yield from _in_file(disk, start, job.below, pattern)
        return
    walk = Walk(disk, job.root, start, go_on=lambda: None)
    wanted, unwanted = _globs(job.query.glob)
    for step in walk.steps(unwanted=lambda path: _is(unwanted, os.path.relpath(path, job.root))):
        name = os.path.relpath(step.path, job.root)
        if step.entry.kind == "file" and step.entry.size <= MAX_FILE and (wanted is None or _is(wanted, name)):
            yield from _in_file(disk, step.path, name, pattern)


def _globs(glob: str | None) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """What files must be called, and what they must not be called."""
    if not glob:
        return None, None
    return (None, name_pattern(glob[1:])) if glob.startswith("!") else (name_pattern(glob), None)


def _is(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


def _in_file(disk: Disk, path: str, name: str, pattern: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    data = read_bytes(disk, path, MAX_FILE)
    if b"\0" in data:
        return
    yield {"type": "begin", "data": {}}
    lines = data.split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        text = line.removesuffix(b"\r").decode(errors="replace")
        match = pattern.search(text)
        if match is not None:
            start = len(text[: match.start()].encode())
            whole = {"text": text + "\n"}
            told = {"path": {"text": name}, "lines": whole, "line_number": number, "submatches": [{"start": start}]}
            yield {"type": "match", "data": told}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

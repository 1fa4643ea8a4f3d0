"""Search for machines without ripgrep, as a separate process: a slow pattern can't block the agent.

    python -m accord.coder.tools.project.scanner JOB

JOB is JSON: the root, the path below it, and the query. The output has the fields of `rg --json` that we read."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec

from accord.coder.tools.project.ripgrep import MAX_FILE_BYTES, Query
from accord.coder.tools.project.walk import Walk, read_bytes
from accord.workspace.disk import Disk
from accord.workspace.files import Files
from accord.workspace.globs import compile_name_glob
from accord.workspace.roots import Roots


class Job(msgspec.Struct):
    """The search to run."""

    root: str
    below: str
    query: Query


def main(text: str) -> int:
    """Search and print. Returns the exit status: 0 for matches, 1 for none, 2 for an invalid pattern."""
    job = msgspec.json.decode(text, type=Job)
    try:
        pattern = compile_pattern(job.query)
    except (re.error, OverflowError, RecursionError) as error:
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


def compile_pattern(query: Query) -> re.Pattern[str]:
    """Compile a query's pattern."""
    warnings.simplefilter("ignore")  # about `[[`, which may become a set operation
    body = query.pattern if query.regex else re.escape(query.pattern)
    if query.word:
        body = rf"(?<!\w)(?:{body})(?!\w)"
    return re.compile(body, re.I if query.ignore_case else 0)


def _matches(disk: Disk, job: Job, pattern: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    start = os.path.join(job.root, job.below) if job.below else job.root
    if os.path.isfile(start):
        yield from _in_file(disk, start, job.below, pattern, job.query.first_only)
        return
    walk = Walk(disk, job.root, start, check_wanted=lambda: None)
    included, excluded = _globs(job.query.glob)
    for step in walk.steps(skip=lambda path: _matches_name(excluded, os.path.relpath(path, job.root))):
        name = os.path.relpath(step.path, job.root)
        if (
            step.entry.kind == "file"
            and step.entry.size <= MAX_FILE_BYTES
            and (included is None or _matches_name(included, name))
        ):
            yield from _in_file(disk, step.path, name, pattern, job.query.first_only)


def _globs(glob: str | None) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Return the patterns for file names to include, and to exclude."""
    if not glob:
        return None, None
    return (None, compile_name_glob(glob[1:])) if glob.startswith("!") else (compile_name_glob(glob), None)


def _matches_name(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


def _in_file(disk: Disk, path: str, name: str, pattern: re.Pattern[str], first_only: bool) -> Iterator[dict[str, Any]]:
    data = read_bytes(disk, path, MAX_FILE_BYTES)
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
            match_data = {
                "path": {"text": name},
                "lines": whole,
                "line_number": number,
                "submatches": [{"start": start}],
            }
            yield {"type": "match", "data": match_data}
            if first_only:
                return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Search text in many files with ripgrep, or with our own scanner if it isn't installed.

Both skip binary files, `.git` and files ignored by .gitignore, include hidden files, don't follow links and sort by
path. They search what is saved on disk. Files that the rules deny, or want to ask about, are withheld."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from accord.coder.tools.base import ToolContext, ToolError
from accord.coder.tools.project.paths import Found, allowed_paths
from accord.coder.tools.project.program import ProgramResult, run_program
from accord.coder.tools.project.walk import read_bytes
from accord.coder.tools.text import cut
from accord.process.programs import find_program
from accord.process.python import python, safe_environment
from accord.workspace.globs import compile_name_glob
from accord.workspace.ignore import rules_above
from accord.workspace.place import Call

TIMEOUT_SECONDS = 30.0
MAX_FILE_BYTES = 20_000_000
"""Larger files are not searched."""
MAX_CONTEXT_LINE = 300
"""Lines around a match are truncated to this length."""
_NEWLINE = re.compile(r"(?<!\\)(?:\\\\)*\\n")
"""An escaped line feed in a regular expression."""
_REASON = re.compile(r"^(?:error|regex parse error): (.+)$", re.M)


class Query(msgspec.Struct, kw_only=True):
    """The pattern and its options."""

    pattern: str
    regex: bool = False
    ignore_case: bool = False
    word: bool = False
    """Whether to match whole words only."""
    glob: str | None = None
    """Limits the search by file name: `*.py`, `src/**`, `!*.min.js`."""
    first_only: bool = False
    """Whether the first match of each file is enough."""
    before: int = 0
    after: int = 0
    """The numbers of lines around each match that are returned with it."""
    limit: int = 200


class InvalidPattern(ToolError):
    """The pattern is not a regular expression that either engine supports."""


class Hit(NamedTuple):
    """A matching line."""

    path: str
    """Absolute, with the client's spelling of the root."""
    line: int
    text: str
    start: int
    """The position of the match in the line, in characters."""


class Hits(msgspec.Struct, kw_only=True):
    """The matches."""

    found: list[Hit] = []
    around: dict[str, dict[int, str]] = {}
    """The lines around the matches, by path and line number."""
    is_truncated: bool = False
    """Whether there are more."""
    timed_out: bool = False
    withheld: int = 0
    """The number of files omitted because of the rules."""


async def search(ctx: ToolContext, where: Found, query: Query) -> Hits:
    """Search a file or directory. Raises `InvalidPattern` if the pattern doesn't compile."""
    if "\n" in query.pattern or "\0" in query.pattern or (query.regex and _NEWLINE.search(query.pattern)):
        raise ToolError(
            "the pattern contains a line feed; files are searched line by line, so search for one line of it"
        )
    program = find_ripgrep(ctx.session.roots)
    around = await asyncio.to_thread(rules_above, where.root_real)
    output = _SearchOutput(where, query)
    if program is not None and around.agrees_with_ripgrep:
        argv = [program, *_options(query, around.in_repository), "--", _below(where) or "."]
        done = await run_program(argv, output.take, cwd=where.root_real, seconds=TIMEOUT_SECONDS, is_limited=True)
    else:
        done = None
    if done is None or _problem_of(done):
        # Ripgrep's own engine has no look-around and no back references; Python's has. And ripgrep reads ignore files
        # without a limit: it runs out of memory if one is a link to /dev/zero.
        output = _SearchOutput(where, query)
        argv, cwd, env = _scanner(where, query, ctx.session.roots)
        done = await run_program(argv, output.take, cwd=cwd, env=env, seconds=TIMEOUT_SECONDS)
    if problem := _problem_of(done):
        raise InvalidPattern(problem) if query.regex else ToolError(problem)
    hits = output.all()
    hits.timed_out = done.timed_out
    paths = {hit.path for hit in hits.found}
    allowed = await allowed_paths(ctx, paths)
    hits.withheld = len(paths) - len(allowed)
    hits.found = [hit for hit in hits.found if hit.path in allowed]
    return await _verify(ctx, where, query, hits)


def _problem_of(done: ProgramResult) -> str:
    """Explain why a search couldn't start; empty if it could.

    Files that can't be read also cause status 2, but no message."""
    if done.status is None or 0 <= done.status <= 1:
        return ""
    if done.status < 0:
        return "the search ran out of memory or was killed"
    words = done.stderr.strip()
    if not words and done.status == 2:
        return ""
    reason = _REASON.search(words)
    return reason[1] if reason else words.removeprefix("rg: ").partition("\n")[0][:300] or f"exit status {done.status}"


async def _verify(ctx: ToolContext, where: Found, query: Query, hits: Hits) -> Hits:
    """Keep only hits that really are in the files they name, and add the lines around them. A search opens files by
    path, so if a link briefly replaces a directory, it prints lines of another file, which the rules may protect."""
    disk = ctx.state.files.outside if where.is_outside else ctx.state.files.disk

    def verify(call: Call) -> Hits:
        found: list[Hit] = []
        for path, group in groupby(hits.found, key=lambda hit: hit.path):
            call.check_wanted()
            data = read_bytes(disk.disk, path, MAX_FILE_BYTES, at=where.root_real + path[len(where.root) :])
            if b"\0" in data:  # binary after the first match
                continue
            lines = data.removesuffix(b"\n").split(b"\n")
            kept = [hit for hit in group if hit.line <= len(lines) and _text(lines[hit.line - 1]) == hit.text]
            found += kept
            if query.before or query.after:
                hits.around[path] = {
                    number: cut(_text(lines[number - 1]), MAX_CONTEXT_LINE)
                    for hit in kept
                    for number in range(max(1, hit.line - query.before), min(len(lines), hit.line + query.after) + 1)
                }
        hits.found = found
        return hits

    return await disk.run_blocking(verify)


def find_ripgrep(outside: Sequence[str] = ()) -> str | None:
    """Return the path of `rg`, from PATH or from our own environment, but not in the directories `outside`."""
    beside = os.pathsep.join(dict.fromkeys((os.path.dirname(sys.executable), sysconfig.get_path("scripts"))))
    return find_program("rg", outside=outside) or shutil.which("rg", path=beside)


def _options(query: Query, in_repository: bool) -> list[str]:
    options = ["--json", "--no-config", "--no-messages", "--hidden", "--no-follow", "--sort=path", "--crlf"]
    options += ["--no-ignore-dot", "--no-ignore-global", "--encoding=none", "--no-mmap"]
    options += [f"--max-filesize={MAX_FILE_BYTES}"]
    options += [] if in_repository else ["--no-require-git"]
    options += [] if query.regex else ["--fixed-strings"]
    options += ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    options += ["--word-regexp"] if query.word else []
    options += ["--max-count=1"] if query.first_only else []
    options += _glob_options(query.glob) if query.glob else []
    return [*options, "--glob=!.git", f"--regexp={query.pattern}"]


def _glob_options(glob: str) -> list[str]:
    """Return options that limit the search by file name. A positive glob would override .gitignore, so it is passed as
    a file type, which doesn't. Types match only the last component; globs with a slash are applied to the output."""
    if glob.startswith("!"):
        return [f"--glob={glob}"]
    return [] if "/" in glob.rstrip("/") else [f"--type-add=wanted:{glob}", "--type=wanted"]


def _below(where: Found) -> str:
    return where.real[len(where.root_real) :].strip(os.sep)


def _scanner(where: Found, query: Query, roots: Sequence[str]) -> tuple[list[str], str, dict[str, str]]:
    """Return the command for our own scanner, which starts outside the project and can't import its modules."""
    import accord

    home = os.path.dirname(os.path.dirname(os.path.abspath(accord.__file__)))
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    job = msgspec.json.encode({"root": where.root_real, "below": _below(where), "query": query}).decode()
    argv = python("-m", "accord.coder.tools.project.scanner", job)
    return argv, home, safe_environment({**os.environ, "PYTHONPATH": path}, where.root_real, *roots)


class _SearchOutput:
    """Parses `rg --json`: one line per match, and one at the end of each file."""

    def __init__(self, where: Found, query: Query) -> None:
        self._hits = Hits()
        self._where = where
        self._limit = query.limit
        glob = query.glob if where.kind == "directory" else None
        self._names = compile_name_glob(glob) if glob and not glob.startswith("!") else None
        self._file: list[Hit] = []
        self._decode = msgspec.json.Decoder().decode

    def take(self, line: bytes) -> bool:
        try:
            message: Any = self._decode(line)
        except msgspec.DecodeError:
            return True
        data = message.get("data", {})
        if message["type"] == "begin":
            self._finish_file()
        elif message["type"] == "end" and data.get("binary_offset") is not None:
            self._file = []
        elif message["type"] == "match" and self._is_wanted(data.get("path", {}).get("text")):
            if len(self._hits.found) + len(self._file) >= self._limit:
                self._hits.is_truncated = True
                return False
            self._file.append(self._hit(data))
        return True

    def _is_wanted(self, path: str | None) -> bool:
        return path is not None and (self._names is None or self._names.fullmatch(path.removeprefix("./")) is not None)

    def all(self) -> Hits:
        """Return all matches, after the search has ended."""
        self._finish_file()
        return self._hits

    def _finish_file(self) -> None:
        self._hits.found += self._file
        self._file = []

    def _hit(self, data: dict[str, Any]) -> Hit:
        real = os.path.join(self._where.root_real, data["path"]["text"].removeprefix("./"))
        raw = _bytes(data["lines"])
        start = data["submatches"][0]["start"] if data.get("submatches") else 0
        before = raw[:start].decode(errors="replace")
        return Hit(self._where.below_root(real), data["line_number"], _text(raw), len(before))


def _text(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode(errors="replace")


def _bytes(text: dict[str, str]) -> bytes:
    """Decode a line as ripgrep writes it: base64 if it isn't UTF-8."""
    return text["text"].encode() if "text" in text else base64.b64decode(text["bytes"])

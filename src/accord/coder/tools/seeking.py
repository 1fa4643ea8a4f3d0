"""Looking for text in many files: by ripgrep where there is one, else by a walk of our own in a process of its own.

Both leave out what .gitignore files name, what `.git` holds and what is no text, look at hidden files, follow no link,
and give lines in the order of paths. What they find is what is saved on the disk. Files that the rules say nothing may
be read of, or only after asking, are not told of."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import sys
import sysconfig
from typing import Any, NamedTuple

import msgspec

from accord.coder.tools.base import ToolFault, Work
from accord.coder.tools.gathering import gathered
from accord.coder.tools.globs import name_pattern
from accord.coder.tools.ignoring import above
from accord.coder.tools.places import Found
from accord.coder.tools.telling import tellable

SECONDS = 30.0
MAX_FILE = 20_000_000
"""Larger files are not looked into."""


class Query(msgspec.Struct, kw_only=True):
    """What to look for."""

    pattern: str
    regex: bool = False
    ignore_case: bool = False
    word: bool = False
    """Whether nothing that belongs to a word may stand before or after it."""
    glob: str | None = None
    """Which files, by name: `*.py`, `src/**`, `!*.min.js`."""
    limit: int = 200


class Hit(NamedTuple):
    """A line that has it."""

    path: str
    """Absolute, below the root as that was given."""
    line: int
    text: str
    start: int
    """Where in the line, in characters."""


class Hits(msgspec.Struct, kw_only=True):
    """What was found."""

    found: list[Hit] = []
    is_cut: bool = False
    """Whether there is more."""
    out_of_time: bool = False
    withheld: int = 0
    """How many files were left out because of the rules."""


async def seek(work: Work, where: Found, query: Query) -> Hits:
    """Looks for text in a file or below a directory."""
    if "\n" in query.pattern or "\0" in query.pattern:
        raise ToolFault(
            "the pattern has a line feed in it; files are searched line by line, so look for one line of it"
        )
    program = ripgrep()
    around = await asyncio.to_thread(above, where.root_real)
    if not around.is_plain:
        program = None
    collected = _Collected(where, query)
    if program is not None:
        argv = [program, *_options(query, around.in_repository), "--", _below(where) or "."]
        cwd, env = where.root_real, None
    else:
        argv, cwd, env = _own(where, query)
    done = await gathered(argv, collected.take, cwd=cwd, env=env, seconds=SECONDS)
    hits = collected.all()
    if done.status is not None and done.status > 1 and not hits.found:
        words = done.complaint.strip().removeprefix("rg: ") or f"the search ended with status {done.status}"
        raise ToolFault(words[-1_000:])
    hits.out_of_time = done.out_of_time
    paths = {hit.path for hit in hits.found}
    told = await tellable(work, paths)
    hits.found = [hit for hit in hits.found if hit.path in told]
    hits.withheld = len(paths) - len(told)
    return hits


def ripgrep() -> str | None:
    """The program, from the PATH or from beside our own."""
    beside = os.pathsep.join(dict.fromkeys((os.path.dirname(sys.executable), sysconfig.get_path("scripts"))))
    return shutil.which("rg") or shutil.which("rg", path=beside)


def _options(query: Query, in_repository: bool) -> list[str]:
    options = ["--json", "--no-config", "--no-messages", "--hidden", "--no-follow", "--sort=path", "--crlf"]
    options += ["--no-ignore-dot", "--no-ignore-global", "--encoding=none", "--no-mmap"]
    options += [f"--max-filesize={MAX_FILE}"]
    options += [] if in_repository else ["--no-require-git"]
    options += [] if query.regex else ["--fixed-strings"]
    options += ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    options += ["--word-regexp"] if query.word else []
    options += _names(query.glob) if query.glob else []
    return [*options, "--glob=!.git", f"--regexp={query.pattern}"]


def _names(glob: str) -> list[str]:
    """Which files. To ripgrep a glob that names files outdoes .gitignore, so we say it as a type of file, which does
    not; a type goes by the last name alone, so that whole paths are left to us."""
    if glob.startswith("!"):
        return [f"--glob={glob}"]
    return [] if "/" in glob.rstrip("/") else [f"--type-add=wanted:{glob}", "--type=wanted"]


def _below(where: Found) -> str:
    return where.real[len(where.root_real) :].strip(os.sep)


def _own(where: Found, query: Query) -> tuple[list[str], str, dict[str, str]]:
    """Our own search. It is started away from the project, whose modules are nobody's to load."""
    import accord

    home = os.path.dirname(os.path.dirname(os.path.abspath(accord.__file__)))
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    job = msgspec.json.encode({"root": where.root_real, "below": _below(where), "query": query}).decode()
    argv = [sys.executable, "-P", "-m", "accord.coder.tools.scanning", job]
    return argv, home, {**os.environ, "PYTHONPATH": path}


class _Collected:
    """Reads what a search prints: JSON, a line for each match, and one for the end of each file."""

    def __init__(self, where: Found, query: Query) -> None:
        self._hits = Hits()
        self._where = where
        self._limit = query.limit
        glob = query.glob if where.kind == "directory" else None
        self._names = name_pattern(glob) if glob and not glob.startswith("!") else None
        self._file: list[Hit] = []
        self._decode = msgspec.json.Decoder().decode

    def take(self, line: bytes) -> bool:
        try:
            message: Any = self._decode(line)
        except msgspec.DecodeError:
            return True
        data = message.get("data", {})
        if message["type"] == "begin":
            self._end_of_file()
        elif message["type"] == "end" and data.get("binary_offset") is not None:
            self._file = []
        elif message["type"] == "match" and self._is_wanted(data.get("path", {}).get("text")):
            if len(self._hits.found) + len(self._file) >= self._limit:
                self._hits.is_cut = True
                return False
            self._file.append(self._hit(data))
        return True

    def _is_wanted(self, path: str | None) -> bool:
        return path is not None and (self._names is None or self._names.fullmatch(path.removeprefix("./")) is not None)

    def all(self) -> Hits:
        """Everything, once no more comes."""
        self._end_of_file()
        return self._hits

    def _end_of_file(self) -> None:
        self._hits.found += self._file
        self._file = []

    def _hit(self, data: dict[str, Any]) -> Hit:
        real = os.path.join(self._where.root_real, data["path"]["text"].removeprefix("./"))
        raw = _bytes(data["lines"]).rstrip(b"\r\n")
        start = data["submatches"][0]["start"] if data.get("submatches") else 0
        before = raw[:start].decode(errors="replace")
        return Hit(self._where.named(real), data["line_number"], raw.decode(errors="replace"), len(before))


def _bytes(text: dict[str, str]) -> bytes:
    """Text that may be none, as ripgrep writes it."""
    return text["text"].encode() if "text" in text else base64.b64decode(text["bytes"])

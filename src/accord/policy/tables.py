"""A TOML file of tables that Accord adds to and people edit: read with care, written without losing a word.

Every table is a block of lines, the comments right above it included. Adding one appends a block, removing one takes
its lines out, and everything else stays as it was written, faults included. Writers take turns by a lock file beside
it, and replace the file whole, so that a reader sees it before or after and never between. A file that is no TOML is
never written to."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from accord.config.faults import syntax
from accord.config.toml import value_text
from accord.config.writing import replace
from accord.errors import ConfigError, RuleError

_PATIENCE = 5.0


class Block(NamedTuple):
    """One table, the line of its heading, and its lines."""

    table: dict[str, Any]
    line: int = 1
    first: int = 1
    lines: tuple[str, ...] = ()

    def line_of(self, key: str) -> int:
        """The line that a key of it stands in."""
        for offset, text in enumerate(self.lines):
            if key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text):
                return self.first + offset
        return self.line


class Contents(NamedTuple):
    """A file that has been read."""

    text: str = ""
    blocks: tuple[Block, ...] = ()
    faults: tuple[RuleError, ...] = ()
    is_cut: bool = True
    """Whether every block is known by its lines, so that one can be taken out."""
    is_unsafe: bool = False
    """Whether somebody else could have written it."""
    is_broken: bool = False
    """Whether it could not be read."""


Change = Callable[[Contents], tuple[Iterable[Block], Iterable[Mapping[str, Any]]]]


class Tables:
    """One such file. `name` is what its tables are called: `[[name]]`."""

    def __init__(self, path: str | os.PathLike[str], name: str, head: str) -> None:
        self.path = Path(path)
        self.name = name
        self._head = head
        self._seen: tuple[int, ...] | None = None
        self._contents = Contents()

    def read(self) -> Contents:
        """The file as it is now. Faults are told in it and never raised."""
        try:
            about = os.stat(self.path)
        except FileNotFoundError:
            self._seen, self._contents = None, Contents()
            return self._contents
        except OSError as error:
            return self._broken(RuleError(f"cannot be read: {error.strerror}"))
        seen = (about.st_mtime_ns, about.st_size, about.st_ino, about.st_mode)
        if seen != self._seen:
            self._contents = self._read(about)
            self._seen = seen
        return self._contents

    def _read(self, about: os.stat_result) -> Contents:
        try:
            contents = self._parse(self.path.read_bytes().decode("utf-8-sig"))
        except OSError as error:
            return self._broken(RuleError(f"cannot be read: {error.strerror}"))
        except UnicodeDecodeError:
            return self._broken(RuleError("is no text in UTF-8; expected TOML"))
        except RuleError as fault:
            return self._broken(fault)
        if os.name == "posix" and stat.S_IMODE(about.st_mode) & 0o022:
            advice = f"others may write to it, so nothing that it allows counts; run: chmod 600 {self.path}"
            faults = (*contents.faults, RuleError(advice, where=str(self.path)))
            return contents._replace(faults=faults, is_unsafe=True)
        return contents

    def _broken(self, fault: RuleError) -> Contents:
        return Contents(faults=(fault.at(str(self.path), fault.line),), is_broken=True)

    def _parse(self, text: str) -> Contents:
        whole = _loads(text, self.name)
        where = str(self.path)
        faults = [
            RuleError(f"has a {key!r} that is not known here; expected [[{self.name}]] tables", where=where)
            for key in whole
            if key != self.name
        ]
        tables = whole.get(self.name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise RuleError(f"{self.name} is no list of tables; expected [[{self.name}]]")
        blocks = self._cut(text)
        # Written in another way, such as a table of another name behind: it can be read, and not taken apart.
        is_cut = [block.table for block in blocks] == tables
        if not is_cut:
            blocks = [Block(table) for table in tables]
        return Contents(text, tuple(blocks), tuple(faults), is_cut)

    def _cut(self, text: str) -> list[Block]:
        lines = text.splitlines(keepends=True)
        heading = re.compile(rf"\s*\[\[\s*{re.escape(self.name)}\s*\]\]")
        headings = [place for place, line in enumerate(lines) if heading.match(line)]
        starts = []
        for place in headings:
            start = place
            while start and lines[start - 1].lstrip().startswith("#"):
                start -= 1
            starts.append(start)
        blocks = []
        for place, start, end in zip(headings, starts, [*starts, len(lines)][1:], strict=True):
            own = tuple(lines[start:end])
            try:
                parsed = tomllib.loads("".join(own))
            except tomllib.TOMLDecodeError:
                return []
            tables = parsed.get(self.name, [])
            if len(tables) != 1 or len(parsed) != 1:
                return []
            blocks.append(Block(tables[0], place + 1, start + 1, own))
        return blocks

    def change(self, change: Change) -> None:
        """Changes the file: `change` gets what it holds and gives the blocks to keep and the tables to add.

        `RuleError` when it cannot be done; the file is then as it was."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _turn(self.path.with_name(self.path.name + ".lock")):
                self._seen = None
                contents = self.read()
                if contents.is_broken:
                    raise contents.faults[0]
                text = self._changed(contents, *change(contents))
                if text != contents.text:
                    replace(self.path, text, mode=0o600)
                self._seen = None
        except OSError as error:
            raise RuleError(f"cannot be written: {error.strerror or error}", where=str(self.path)) from None
        except RuleError as fault:
            raise fault.at(str(self.path), fault.line) from None
        except ConfigError as fault:
            raise RuleError(str(fault), where=str(self.path)) from None

    def _changed(self, contents: Contents, keep: Iterable[Block], add: Iterable[Mapping[str, Any]]) -> str:
        kept, new = list(keep), list(add)
        text = contents.text
        if contents.is_cut and contents.blocks:
            head = text.splitlines(keepends=True)[: contents.blocks[0].first - 1]
            text = "".join((*head, *(line for block in kept for line in block.lines)))
        elif len(kept) < len(contents.blocks) and not new:
            raise RuleError(f"is written in a way that cannot be changed here; expected [[{self.name}]] tables alone")
        for table in new:
            text = (text or self._head) + ("" if text.endswith("\n") or not text else "\n")
            text += f"\n[[{self.name}]]\n" + "".join(f"{key} = {value_text(value)}\n" for key, value in table.items())
        if text != contents.text:
            _loads(text, self.name)  # what was there may not bear what was added
        return text


def _loads(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{syntax(str(error))} with [[{name}]] tables") from None
    except RecursionError:
        raise RuleError("is nested too deeply; expected plain tables") from None


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Holds the lock file, which stays there: to remove it would let two hold it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        until = time.monotonic() + _PATIENCE
        while not locked(handle):
            if time.monotonic() > until:
                raise OSError(None, f"another process has held {path} for {_PATIENCE:.0f} s")
            time.sleep(0.01)
        yield
    finally:
        os.close(handle)  # which gives the lock back


if sys.platform == "win32":
    import msvcrt

    def locked(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

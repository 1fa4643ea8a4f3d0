"""A TOML file of tables that both Accord and the user edit. Edits by Accord preserve everything else in it.

A table is a block of lines, including the comments right above it. Adding a table appends a block; removing one removes
its lines; everything else stays unchanged, including invalid parts. Writers hold a lock file next to it, and replace
the file atomically. A file that isn't valid TOML is never changed."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from accord.config.files import replace
from accord.config.locking import hold
from accord.config.problems import describe_syntax_error
from accord.config.toml import value_text
from accord.errors import ConfigError, RuleError


class Block(NamedTuple):
    """One table, the line of its heading, and its lines."""

    table: dict[str, Any]
    line: int = 1
    first: int = 1
    lines: tuple[str, ...] = ()

    def line_of(self, key: str) -> int:
        """Return the line of a key."""
        for offset, text in enumerate(self.lines):
            if key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text):
                return self.first + offset
        return self.line


class Contents(NamedTuple):
    """The parsed content of a file."""

    text: str = ""
    blocks: tuple[Block, ...] = ()
    problems: tuple[RuleError, ...] = ()
    is_split: bool = True
    """Whether the lines of every block could be determined, so that a block can be removed."""
    is_unsafe: bool = False
    """Whether other users can write to the file."""
    is_broken: bool = False
    """Whether the file couldn't be read."""


Change = Callable[[Contents], tuple[Iterable[Block], Iterable[Mapping[str, Any]]]]


class TomlTables:
    """One such file, with tables `[[name]]`."""

    def __init__(self, path: str | os.PathLike[str], name: str, head: str) -> None:
        self.path: Path = Path(path)
        self.name = name
        self._head = head
        self._seen: tuple[int, ...] | None = None
        self._contents = Contents()

    def read(self) -> Contents:
        """Return the current content. Problems are part of it and never raised."""
        try:
            about = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):  # a parent is a file, so this one can't exist
            self._seen, self._contents = None, Contents()
            return self._contents
        except OSError as error:
            return self._describe_unreadable(RuleError(f"cannot be read: {error.strerror}"))
        seen = (about.st_mtime_ns, about.st_size, about.st_ino, about.st_mode)
        if seen != self._seen:
            self._contents = self._read(about)
            self._seen = seen
        return self._contents

    def _read(self, about: os.stat_result) -> Contents:
        try:
            contents = self._parse(self.path.read_bytes().decode("utf-8-sig"))
        except OSError as error:
            return self._describe_unreadable(RuleError(f"cannot be read: {error.strerror}"))
        except UnicodeDecodeError:
            return self._describe_unreadable(RuleError("isn't UTF-8 text; expected TOML"))
        except RuleError as error:
            return self._describe_unreadable(error)
        if os.name == "posix" and stat.S_IMODE(about.st_mode) & 0o022:
            advice = f"other users can write to it, so what it allows is ignored; run: chmod 600 {self.path}"
            problems = (*contents.problems, RuleError(advice, where=str(self.path)))
            return contents._replace(problems=problems, is_unsafe=True)
        return contents

    def _describe_unreadable(self, error: RuleError) -> Contents:
        return Contents(problems=(error.at(str(self.path), error.line),), is_broken=True)

    def _parse(self, text: str) -> Contents:
        whole = _loads(text, self.name)
        where = str(self.path)
        problems = [
            RuleError(f"has an unknown key {key!r}; expected [[{self.name}]] tables", where=where)
            for key in whole
            if key != self.name
        ]
        tables = whole.get(self.name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise RuleError(f"{self.name} isn't a list of tables; expected [[{self.name}]]")
        blocks = self._split_blocks(text)
        # Another layout, such as a different table at the end, can be read but not split into blocks.
        is_split = [block.table for block in blocks] == tables
        if not is_split:
            blocks = [Block(table) for table in tables]
        return Contents(text, tuple(blocks), tuple(problems), is_split)

    def _split_blocks(self, text: str) -> list[Block]:
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
        """Change the file: `change` gets its content, and returns the blocks to keep and the tables to add.

        Raises `RuleError` and leaves the file unchanged if that isn't possible."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with hold(self.path.with_name(self.path.name + ".lock")):
                self._seen = None
                contents = self.read()
                if contents.is_broken:
                    raise contents.problems[0]
                text = self._render_changes(contents, *change(contents))
                if text != contents.text:
                    replace(self.path, text, mode=0o600)
                self._seen = None
        except OSError as error:
            raise RuleError(f"cannot be written: {error.strerror or error}", where=str(self.path)) from None
        except RuleError as error:
            raise error.at(str(self.path), error.line) from None
        except ConfigError as error:
            raise RuleError(str(error), where=str(self.path)) from None

    def _render_changes(self, contents: Contents, keep: Iterable[Block], add: Iterable[Mapping[str, Any]]) -> str:
        remaining, new = list(keep), list(add)
        text = contents.text
        if contents.is_split and contents.blocks:
            head = text.splitlines(keepends=True)[: contents.blocks[0].first - 1]
            text = "".join((*head, *(line for block in remaining for line in block.lines)))
        elif len(remaining) < len(contents.blocks) and not new:
            raise RuleError(f"has a layout that Accord can't edit; expected only [[{self.name}]] tables")
        for table in new:
            text = (text or self._head) + ("" if text.endswith("\n") or not text else "\n")
            text += f"\n[[{self.name}]]\n" + "".join(f"{key} = {value_text(value)}\n" for key, value in table.items())
        if text != contents.text:
            _loads(text, self.name)  # the previous text may be incompatible with the new tables
        return text


def _loads(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{describe_syntax_error(str(error))} with [[{name}]] tables") from None
    except RecursionError:
        raise RuleError("is nested too deeply; expected plain tables") from None

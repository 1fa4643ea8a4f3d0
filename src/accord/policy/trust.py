"""Trusted project directories, saved next to the remembered rules.

A directory is trusted by its resolved path. A link to a trusted directory is trusted too, until the link is changed to
point elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accord.config.directories import data_directory
from accord.config.toml_tables import Block, Contents, TomlTables
from accord.errors import RuleError

FILE = "trust.toml"
_HEAD = "# Directories whose accord.toml may allow actions and start agents. Remove one to stop trusting it.\n"


class Trust:
    """The trusted directories."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path: Path = Path(path) if path is not None else data_directory() / FILE
        self._tables = TomlTables(self.path, "folder", _HEAD)
        self._clock = clock

    def trusts(self, directory: str | os.PathLike[str]) -> bool:
        """Return whether a directory exists and is trusted."""
        real = _real(directory)
        return real is not None and real in self.directories()

    def directories(self) -> list[str]:
        """Return the trusted paths that are still directories and not behind a link."""
        contents = self._tables.read()
        if contents.is_unsafe:
            return []
        paths = [block.table.get("path") for block in contents.blocks]
        return [path for path in paths if isinstance(path, str) and _real(path) == path]

    @property
    def problems(self) -> list[RuleError]:
        """Problems in the file."""
        contents = self._tables.read()
        return [
            *contents.problems,
            *(
                RuleError(
                    f"path is {block.table.get('path')!r}; expected the absolute path of a directory, without links",
                    where=str(self.path),
                    line=block.line_of("path"),
                )
                for block in contents.blocks
                if not _is_canonical(block.table.get("path"))
            ),
        ]

    def add(self, directory: str | os.PathLike[str]) -> str:
        """Trust a directory, and return its resolved path."""
        real = _real(directory)
        if real is None:
            raise RuleError(f"{os.fspath(directory)} isn't a directory, so it can't be trusted")

        def change(contents: Contents) -> tuple[list[Block], list[Mapping[str, Any]]]:
            known = any(block.table.get("path") == real for block in contents.blocks)
            added = datetime.fromtimestamp(int(self._clock()), UTC)
            return list(contents.blocks), [] if known else [{"path": real, "added": added}]

        self._tables.change(change)
        return real

    def remove(self, directory: str | os.PathLike[str]) -> None:
        """Stop trusting a directory."""
        removed = {os.path.realpath(directory), os.path.abspath(directory)}

        def change(contents: Contents) -> tuple[list[Block], list[Mapping[str, Any]]]:
            return [block for block in contents.blocks if block.table.get("path") not in removed], []

        self._tables.change(change)


def _real(directory: str | os.PathLike[str]) -> str | None:
    try:
        real = os.path.realpath(directory, strict=True)
    except (OSError, ValueError):
        return None
    return real if os.path.isdir(real) else None


def _is_canonical(path: object) -> bool:
    return isinstance(path, str) and os.path.isabs(path) and os.path.realpath(path) == path

"""Which project folders the user trusts: kept beside the remembered permissions, by the folder's own path.

A folder is trusted by the path it really has. A link to a trusted folder is that folder; a link that once led to a
trusted folder and now leads elsewhere is not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accord.config.folders import data_folder
from accord.errors import RuleError
from accord.policy.tables import Block, Contents, Tables

FILE = "trust.toml"
_HEAD = "# Folders whose accord.toml may allow, and start agents. Remove one to trust it no longer.\n"


class Trust:
    """The folders that are trusted."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path) if path is not None else data_folder() / FILE
        self._tables = Tables(self.path, "folder", _HEAD)
        self._clock = clock

    def trusts(self, folder: str | os.PathLike[str]) -> bool:
        """Whether a folder is trusted. One that is not there is not."""
        real = _real(folder)
        return real is not None and real in self.folders()

    def folders(self) -> list[str]:
        """All that are trusted and still are what they were: folders, at the end of no link."""
        contents = self._tables.read()
        if contents.is_unsafe:
            return []
        paths = [block.table.get("path") for block in contents.blocks]
        return [path for path in paths if isinstance(path, str) and _real(path) == path]

    @property
    def faults(self) -> list[RuleError]:
        """What is wrong with the file."""
        contents = self._tables.read()
        return [
            *contents.faults,
            *(
                RuleError(
                    f"path is {block.table.get('path')!r}; expected the absolute path of a folder, without links",
                    where=str(self.path),
                    line=block.line_of("path"),
                )
                for block in contents.blocks
                if not _is_canonical(block.table.get("path"))
            ),
        ]

    def add(self, folder: str | os.PathLike[str]) -> str:
        """Trusts a folder, and gives the path it is trusted by."""
        real = _real(folder)
        if real is None:
            raise RuleError(f"{os.fspath(folder)} is no folder, so it cannot be trusted")

        def change(contents: Contents) -> tuple[list[Block], list[Mapping[str, Any]]]:
            known = any(block.table.get("path") == real for block in contents.blocks)
            added = datetime.fromtimestamp(int(self._clock()), UTC)
            return list(contents.blocks), [] if known else [{"path": real, "added": added}]

        self._tables.change(change)
        return real

    def remove(self, folder: str | os.PathLike[str]) -> None:
        """Trusts a folder no longer."""
        gone = {os.path.realpath(folder), os.path.abspath(folder)}

        def change(contents: Contents) -> tuple[list[Block], list[Mapping[str, Any]]]:
            return [block for block in contents.blocks if block.table.get("path") not in gone], []

        self._tables.change(change)


def _real(folder: str | os.PathLike[str]) -> str | None:
    try:
        real = os.path.realpath(folder, strict=True)
    except (OSError, ValueError):
        return None
    return real if os.path.isdir(real) else None


def _is_canonical(path: object) -> bool:
    return isinstance(path, str) and os.path.isabs(path) and os.path.realpath(path) == path

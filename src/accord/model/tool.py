"""Tool calls, their content, and terminals."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from accord.model.content import Content
from accord.model.list_like import ListLike
from accord.model.record import Meta, PublicRecord, Record
from accord.schema.constructor import unchecked

ToolKind = Union[
    Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"], str
]
"""The kind of work that a tool call does, as reported by the agent."""
ToolStatus = Union[Literal["pending", "in_progress", "paused", "completed", "failed", "cancelled"], str]
"""The state of a tool call."""
FINAL = frozenset({"completed", "failed", "cancelled"})


class Location(PublicRecord):
    """A place in a file that a tool call works on. Lines count from 1."""

    path: str
    line: int | None = None
    meta: Meta | None = None


LocationsLike = ListLike[Union[str, Location]]
"""Values accepted as locations: paths, which may end in `:line`, or objects."""


class FileChange(PublicRecord):
    """A change of one file, with the texts if they are known: v1 sends them, v2 sends a patch."""

    operation: Union[Literal["add", "delete", "modify", "move", "copy"], str]
    path: str
    old_path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    file_type: str | None = None
    mime_type: str | None = None
    is_fragment: bool = False
    """Whether the texts are a part of the file whose line numbers are unknown."""
    meta: Meta | None = None


class Diff(PublicRecord):
    """Changes of files. `Diff.of(path, old, new)` creates one from two texts."""

    changes: list[FileChange]
    given_patch: str | None = None
    meta: Meta | None = None

    @classmethod
    def of(cls, path: str, old: str | None, new: str | None) -> Diff:
        """Create the diff of one file. `old` is None for a new file, `new` is None for a deleted one."""
        operation = "add" if old is None else "delete" if new is None else "modify"
        change = unchecked(FileChange, operation=operation, path=path, old_text=old, new_text=new)
        found: Diff = unchecked(cls, changes=[change])
        return found

    @property
    def patch(self) -> str:
        """The changes as a Git patch, created from the texts if the agent sent none."""
        if self.given_patch is None:
            from accord.git_patch import git_patch

            self.given_patch = "".join(
                git_patch(
                    change.path,
                    change.old_text,
                    change.new_text,
                    operation=change.operation,
                    old_path=change.old_path,
                )
                for change in self.changes
                if change.old_text is not None or change.new_text is not None
            )
        return self.given_patch


class TerminalRef(Record):
    """A terminal shown in a tool call."""

    terminal_id: str
    meta: Meta | None = None


ToolContent = Union[Content, Diff, TerminalRef]


class ToolCall(Record):
    """The current state of a tool call."""

    id: str
    title: str = ""
    kind: ToolKind = "other"
    status: ToolStatus = "pending"
    name: str | None = None
    content: list[ToolContent] = []
    locations: list[Location] = []
    raw_input: Any = None
    raw_output: Any = None
    can_cancel: bool = False
    replayed: bool = False
    meta: Meta | None = None

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def diffs(self) -> list[Diff]:
        return [item for item in self.content if isinstance(item, Diff)]


class ExitStatus(Record):
    """The exit status of a command: a code or a signal."""

    code: int | None = None
    signal: str | None = None
    meta: Meta | None = None


class Terminal(msgspec.Struct, kw_only=True):
    """The current state of a terminal. Output is stored in the chunks in which it arrived."""

    id: str
    command: str | None = None
    cwd: str | None = None
    exit: ExitStatus | None = None
    columns: int | None = None
    rows: int | None = None
    can_cancel: bool = False
    chunks: list[bytes] = []
    meta: Meta | None = None

    @property
    def output(self) -> bytes:
        """All output so far."""
        if len(self.chunks) > 1:
            self.chunks = [b"".join(self.chunks)]
        return self.chunks[0] if self.chunks else b""

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

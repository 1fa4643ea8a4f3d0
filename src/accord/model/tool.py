"""Tool calls: what an agent does, told while it does it."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from accord.model.content import Content
from accord.model.noun import Meta, Noun

ToolKind = Union[
    Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"], str
]
ToolStatus = Union[Literal["pending", "in_progress", "paused", "completed", "failed", "cancelled"], str]
FINAL = frozenset({"completed", "failed", "cancelled"})


class Location(Noun):
    """A place in a file that a tool call works on. Lines count from 1."""

    path: str
    line: int | None = None


class FileChange(Noun):
    """What happened to one file. The texts are there when they are known (v1 sends them, v2 sends a patch)."""

    operation: Union[Literal["add", "delete", "modify", "move", "copy"], str]
    path: str
    old_path: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    file_type: str | None = None
    mime_type: str | None = None


class Diff(Noun):
    """Changes to files. `Diff.of(path, old, new)` makes one from two texts."""

    changes: list[FileChange]
    given_patch: str | None = None

    @classmethod
    def of(cls, path: str, old: str | None, new: str | None) -> Diff:
        """The change of one file: `old` None creates it, `new` None deletes it."""
        operation = "add" if old is None else "delete" if new is None else "modify"
        return cls(changes=[FileChange(operation=operation, path=path, old_text=old, new_text=new)])

    @property
    def patch(self) -> str:
        """The change as a Git patch; made from the texts when the agent sent none."""
        if self.given_patch is None:
            from accord.model.patch import git_patch

            self.given_patch = "".join(git_patch(change) for change in self.changes)
        return self.given_patch


class TerminalRef(Noun):
    """Shows a terminal inside a tool call."""

    terminal_id: str


ToolContent = Union[Content, Diff, TerminalRef]


class ToolCall(Noun):
    """One tool call as it stands now."""

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


class ExitStatus(Noun):
    """How a command ended: a code, or the signal that ended it."""

    code: int | None = None
    signal: str | None = None


class Terminal(msgspec.Struct, kw_only=True):
    """A terminal's output as it stands now, kept as the pieces it came in."""

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
        """All bytes so far."""
        if len(self.chunks) > 1:
            self.chunks = [b"".join(self.chunks)]
        return self.chunks[0] if self.chunks else b""

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

"""Diffs: changes of files, with a patch where possible."""

from __future__ import annotations

from typing import ClassVar, Literal

from accord.schema.shape import UNSET, Filtered, Message, Open, Opt, Word
from accord.schema.v2.values import AbsolutePath, MediaType

DiffFileType = Word[Literal["text", "binary", "directory", "symlink"]]
DiffPatchFormat = Word[Literal["git_patch"]]


class DiffPathChange(Message):
    """A change of the file at one path. The types describe the new file, or the one that was deleted."""

    file_type: Opt[DiffFileType] = UNSET
    mime_type: Opt[MediaType] = UNSET
    path: AbsolutePath


class DiffPathPairChange(Message):
    """A change that involves two paths. The types describe the new file."""

    file_type: Opt[DiffFileType] = UNSET
    mime_type: Opt[MediaType] = UNSET
    old_path: AbsolutePath
    path: AbsolutePath


class DiffAdd(DiffPathChange, tag_field="operation", tag="add"):
    """A new file."""


class DiffDelete(DiffPathChange, tag_field="operation", tag="delete"):
    """A deleted file."""


class DiffModify(DiffPathChange, tag_field="operation", tag="modify"):
    """A file with new contents."""


class DiffMove(DiffPathPairChange, tag_field="operation", tag="move"):
    """A file that was moved or renamed."""


class DiffCopy(DiffPathPairChange, tag_field="operation", tag="copy"):
    """A file that was copied to another path."""


DiffChange = Open[DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy]


class DiffPatch(Message):
    """The changes as a text patch."""

    OLDER: ClassVar[dict[str, str]] = {"diff": "text"}

    format: DiffPatchFormat
    text: str


class Diff(Message, tag_field="type", tag="diff"):
    """Changes of files. The patch contains some or all of them as text."""

    changes: Filtered[DiffChange]
    patch: Opt[DiffPatch] = UNSET

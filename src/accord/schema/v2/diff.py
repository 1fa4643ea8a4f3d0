"""What a tool does to files: which ones, how, and where possible line by line."""

from __future__ import annotations

from typing import ClassVar, Literal

from accord.schema.shape import UNSET, Filtered, Message, Open, Opt, Word
from accord.schema.v2.values import AbsolutePath, MediaType

DiffFileType = Word[Literal["text", "binary", "directory", "symlink"]]
DiffPatchFormat = Word[Literal["git_patch"]]


class DiffFile(Message):
    """Says what kind of file a change is about: the one after it, or for a deletion the one before."""

    file_type: Opt[DiffFileType] = UNSET
    mime_type: Opt[MediaType] = UNSET


class DiffPathChange(DiffFile):
    """A change of the file at one path."""

    path: AbsolutePath


class DiffPathPairChange(DiffFile):
    """A change that leads from one path to another."""

    old_path: AbsolutePath
    path: AbsolutePath


class DiffAdd(DiffPathChange, tag_field="operation", tag="add"):
    """A file that was not there before."""


class DiffDelete(DiffPathChange, tag_field="operation", tag="delete"):
    """A file that is there no more."""


class DiffModify(DiffPathChange, tag_field="operation", tag="modify"):
    """A file with new contents."""


class DiffMove(DiffPathPairChange, tag_field="operation", tag="move"):
    """A file that has another path now."""


class DiffCopy(DiffPathPairChange, tag_field="operation", tag="copy"):
    """A file that was copied to another path."""


DiffChange = Open[DiffAdd | DiffDelete | DiffModify | DiffMove | DiffCopy]


class DiffPatch(Message):
    """Changes line by line, as text in a format of its own."""

    OLDER: ClassVar[dict[str, str]] = {"diff": "text"}

    format: DiffPatchFormat
    text: str


class Diff(Message, tag_field="type", tag="diff"):
    """Lists changes of files; the patch shows them, or some of them, line by line."""

    changes: Filtered[DiffChange]
    patch: Opt[DiffPatch] = UNSET

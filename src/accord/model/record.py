"""The base class of the neutral model, and patches of its metadata."""

from __future__ import annotations

from typing import Any, Union, dataclass_transform

import msgspec
from msgspec import UnsetType

from accord.schema.constructor import ConstructorType
from accord.schema.shape import MessageType


# On the class, not on its metaclass, as for `Message`: type checkers use the first `dataclass_transform` they find.
@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, metaclass=MessageType, gc=False):
    """Plain data with named fields. Fields are keyword-only; new ones never change a signature."""


class PublicRecord(Record, metaclass=ConstructorType, gc=False):
    """A record that authors create, such as an option."""


Meta = dict[str, Any]
MetaPatch = Union[Meta, None, UnsetType]
"""A change of metadata by key: `UNSET` changes nothing, None clears all, a key with None is removed."""


def patch_meta(meta: Meta | None, patch: MetaPatch) -> Meta | None:
    """Return the metadata after a change, as a new object: events that hold the old one must not change."""
    if isinstance(patch, UnsetType):
        return meta
    if patch is None:
        return None
    return {key: value for key, value in {**(meta or {}), **patch}.items() if value is not None}


def patch(record: Any, changes: dict[str, Any], meta_patch: MetaPatch) -> None:
    """Set fields of a record by name."""
    for name, value in changes.items():
        setattr(record, name, value)
    if not isinstance(meta_patch, UnsetType):
        record.meta = patch_meta(record.meta, meta_patch)

"""The name and version of an implementation."""

from __future__ import annotations

from accord.schema.shape import UNSET, Message, Opt


class Implementation(Message):
    """The name and version of a program; `title` is its display name."""

    name: str
    title: Opt[str] = UNSET
    version: str

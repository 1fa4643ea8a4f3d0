"""The name and version of an implementation."""

from __future__ import annotations

from accord.schema.shape import UNSET, Message, Opt


class Implementation(Message):
    """Names a program and its version; `title` is the name for people."""

    name: str
    title: Opt[str] = UNSET
    version: str

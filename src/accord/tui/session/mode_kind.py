"""The kinds of modes: those that ask, those that act without asking, and others.

The protocol has no field for that. Agents use well-known ids, which are listed here; a mode with another id is shown as
`other`, unless it is the first one, which agents start in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from accord.model.session import Option

ModeKind = Literal["asks", "other", "acts"]

_ASKS = frozenset({"ask", "default", "manual", "normal", "suggest"})
_ACTS = frozenset(
    {
        *("code", "act", "edit", "write", "build", "auto", "autoedit", "autopilot", "acceptedits", "yolo"),
        *("bypasspermissions", "dontask", "fullaccess", "agentfullaccess", "fullauto"),
    }
)
"""Modes of well-known agents that edit files, or do everything, without asking."""


def kind_of(mode: Option) -> ModeKind:
    """Return what the current mode means for the user."""
    id = re.sub(r"[^a-z]", "", str(mode.value).rpartition("#")[2].lower())
    if id in _ACTS:
        return "acts"
    is_first = bool(mode.choices) and mode.choices[0].value == mode.value
    return "asks" if id in _ASKS or is_first else "other"

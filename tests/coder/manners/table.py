"""Calls as real models send them, each with the effect it must have."""

from __future__ import annotations

from .calls import CALLS
from .edits import EDITS
from .manner import FILES, Manner, Send

MANNERS: list[Manner] = [*CALLS, *EDITS]
__all__ = ["FILES", "MANNERS", "Manner", "Send"]

"""Folds session updates into what a person sees.

The same updates in the same order give the same picture, so the terminal, the browser and the inspector never disagree.
Nothing here waits, draws or saves. What is shown here knows no version; the folds of the two, `transcript.v1` and
`transcript.v2`, are loaded when a version has been agreed on."""

from __future__ import annotations

from accord.transcript.message import Message
from accord.transcript.snapshot import Snapshot
from accord.transcript.transcript import TimelineItem, Transcript

__all__ = ["Message", "Snapshot", "TimelineItem", "Transcript"]

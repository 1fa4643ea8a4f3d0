"""By what name an agent goes, everywhere: the one it is configured under, and its own once it has told it."""

from __future__ import annotations

import os
import shlex

from accord.config.command import BUILT_IN, is_command_line
from accord.config.mask import masked
from accord.tui.plain import one_line

OURS = "built-in agent"
_MOST = 60


def called(target: str) -> str:
    """What an agent is called before it has said anything: its name, or its command line without the folders."""
    if target == BUILT_IN:
        return OURS
    if not is_command_line(target):
        return target
    try:
        words = shlex.split(masked(target))
    except ValueError:
        words = masked(target).split()
    return one_line(" ".join(map(_short, words)), _MOST)


def _short(word: str) -> str:
    is_path = "/" in word and "=" not in word and ":" not in word
    return (os.path.basename(word.rstrip("/")) or word) if is_path else word

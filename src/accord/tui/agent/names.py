"""The name of an agent for the user, before it reports its own title."""

from __future__ import annotations

import os
import shlex

from accord.config.command import BUILT_IN, is_command_line
from accord.terminal_text import one_line

BUILT_IN_NAME = "built-in agent"
OWN_TITLE = "Accord"
"""The title by which the built-in agent introduces itself. Beside the name of this client, it says nothing."""
_MAX_LENGTH = 60


def display_name(target: str) -> str:
    """Return the configured name of an agent, or its command line without directories."""
    if target == BUILT_IN:
        return BUILT_IN_NAME
    if not is_command_line(target):
        return target
    from accord.config.redaction import redact_text

    try:
        words = shlex.split(redact_text(target))
    except ValueError:
        words = redact_text(target).split()
    return one_line(" ".join(map(_base_name, words)), _MAX_LENGTH)


def _base_name(word: str) -> str:
    is_path = "/" in word and "=" not in word and ":" not in word
    return (os.path.basename(word.rstrip("/")) or word) if is_path else word

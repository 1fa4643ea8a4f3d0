"""What a configuration file may not say although every value in it has the right type."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.config.settings import Settings


def wrong(settings: Settings) -> Iterator[tuple[list[str], str]]:
    """Each fault: the keys that lead to it, and what is wrong and was expected."""
    from accord.config.settings import NAME, WAITS

    for name, entry in settings.agents.items():
        if not NAME.fullmatch(name):
            yield ["agents", name], "an agent's name has letters, digits, - and _ only"
        said = _command(entry.command)
        if said:
            yield ["agents", name, "command"], said
    for name in settings.coder.providers:
        if not NAME.fullmatch(name) or name in ("offline", "local"):
            words = "a provider's name has letters, digits, - and _ only, and is not offline or local"
            yield ["coder", "providers", name], words
    for name, seconds in settings.deadlines.items():
        if name not in WAITS:
            yield ["deadlines", name], f"there is no such wait; expected {', '.join(WAITS)}"
        elif not 0 <= seconds < math.inf:
            yield ["deadlines", name], f"found {seconds:g}; expected seconds"


def _command(command: str | list[str]) -> str:
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError as error:
        return f"found {command!r}; expected a command line ({str(error).lower()})"
    return "" if words and words[0].strip() else "it is empty; expected a command"

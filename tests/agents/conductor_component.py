"""A conductor on standard input and output: `conductor_component.py COMMAND -- COMMAND … -- AGENT`."""

from __future__ import annotations

import sys

from accord.proxy import Conductor, run


def split(words: list[str]) -> list[list[str]]:
    """Return the commands between the `--`."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


if __name__ == "__main__":
    run(Conductor(*split(sys.argv[1:])))

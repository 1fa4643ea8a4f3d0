"""Find programs that Accord runs by itself, but never one that a project brings along."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable


def find_program(name: str, *, outside: Iterable[str] = ()) -> str | None:
    """Find a program on the PATH, ignoring relative entries and everything in the directories `outside`.

    A directory of the project may be on the PATH. A command in a sandbox could write a `git` to it, which Accord would
    run outside."""
    avoided = [os.path.realpath(directory).rstrip(os.sep) + os.sep for directory in outside]

    def is_avoided(path: str) -> bool:
        real = os.path.realpath(path)
        return any(f"{real}{os.sep}".startswith(directory) for directory in avoided)

    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [entry for entry in entries if os.path.isabs(entry) and not is_avoided(entry)]
    found = shutil.which(name, path=os.pathsep.join(kept))
    return None if found is None or is_avoided(found) else found

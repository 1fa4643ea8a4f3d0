"""Windows' restrictions on open files, for tests on Linux."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import pytest


def refuse_like_windows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Refuse to rename, replace or remove a file that this process has open, and to open a temporary file twice.

    Yields the list of renamed and removed files, so that a test can check that the restrictions were active."""
    done: list[str] = []

    def make_failing(name: str) -> Callable[..., Any]:
        plain = getattr(os, name)

        def call(*paths: Any, **options: Any) -> Any:
            for path in paths:
                if is_open(path):
                    raise PermissionError(13, "the file is in use by this process (as on Windows)", os.fspath(path))
            done.extend(map(os.fspath, paths))
            return plain(*paths, **options)

        return call

    for name in ("rename", "replace", "remove", "unlink"):
        monkeypatch.setattr(os, name, make_failing(name))
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", _no_second_opening)
    return done


def is_open(path: Any) -> bool:
    """Return whether this process has the file open."""
    try:
        wanted = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    for name in os.listdir("/proc/self/fd"):
        try:
            found = os.stat(int(name))
        except OSError:  # the descriptor of the listing itself
            continue
        if os.path.samestat(found, wanted):
            return True
    return False


def _no_second_opening(*args: Any, delete: bool = True, **options: Any) -> Any:
    """On Windows, a `NamedTemporaryFile` that deletes itself can't be opened by name."""
    if delete:
        raise PermissionError(13, "a temporary file can't be opened by its name on Windows")
    return _PLAIN(*args, delete=delete, **options)


_PLAIN = tempfile.NamedTemporaryFile

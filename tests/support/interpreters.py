"""Find the other Python versions of this machine that Accord supports, for `make test-all`.

Prints the path of one interpreter per minor version. Only what runs counts: pyenv's shims exist for versions that
are not active, and a distribution's Python may lack `venv`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SUPPORTED = [(3, minor) for minor in range(11, 15)]
PROBE = "import sys, venv, ensurepip, sqlite3, ssl; print(*sys.version_info[:2])"


def candidates() -> list[str]:
    """Yield paths that may be a supported Python: from `PATH`, then pyenv's versions, newest first."""
    found = [shutil.which(f"python{major}.{minor}") for major, minor in SUPPORTED]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    versions = sorted(pyenv.glob("*/bin/python"), key=lambda path: _numbers(path.parts[-3]), reverse=True)
    return [path for path in (*found, *map(str, versions)) if path]


def find_version(python: str) -> tuple[int, int] | None:
    """Return the version of an interpreter; None if it doesn't run or lacks a module that the tests need."""
    try:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return (int(words[0]), int(words[1])) if done.returncode == 0 and len(words) == 2 else None


def find_others() -> dict[tuple[int, int], str]:
    """Find one interpreter for each supported version besides the running one."""
    others: dict[tuple[int, int], str] = {}
    for python in candidates():
        version = find_version(python)
        if version in SUPPORTED and version != sys.version_info[:2]:
            others.setdefault(version, python)
    return dict(sorted(others.items()))


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.split(".") if part.isdigit()]


if __name__ == "__main__":
    for (major, minor), path in find_others().items():
        print(f"{major}.{minor}={path}")

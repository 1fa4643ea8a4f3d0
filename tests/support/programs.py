"""Install the programs that tests run besides Python: tmux for the terminal client, jq for the documents, nginx and
bubblewrap for the server.

Uses the system's package manager, which needs root (except Homebrew). Does nothing when they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.prerequisites import OFFLINE, SKIP_WITH

PROGRAMS = {"tmux": "tmux", "jq": "jq", "nginx": "nginx"}
"""The programs and their packages, whose names are the same with every package manager below."""
if sys.platform == "linux":
    PROGRAMS["bwrap"] = "bubblewrap"

INSTALLERS = {
    "apt-get": ["apt-get", "install", "-y", "-qq"],
    "dnf": ["dnf", "install", "-y", "-q"],
    "apk": ["apk", "add", "-q"],
    "brew": ["brew", "install", "-q"],
}


def find(program: str) -> str | None:
    """Find a program on PATH, or in an sbin directory beside it: nginx isn't on a user's PATH on Debian."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    beside = [folder.removesuffix("bin") + "sbin" for folder in folders if folder.endswith("/bin")]
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join(beside))


def main() -> int:
    missing = {program: package for program, package in PROGRAMS.items() if find(program) is None}
    if not missing:
        return 0
    names = " and ".join(missing.values())
    if OFFLINE:
        print(f"ACCORD_OFFLINE=1: not installing {names}; tests that need them are skipped")
        return 0
    installer = _find_installer()
    if installer is None:
        print(f"{names} not found, and there is no right to install: install the packages {names}.", file=sys.stderr)
        print(SKIP_WITH, file=sys.stderr)
        return 1
    print(f"Installing {names} with {installer[0]}…", flush=True)
    if installer[0] == "apt-get":
        subprocess.run(["apt-get", "update", "-qq"], check=False)
    done = subprocess.run([*installer, *missing.values()], check=False, stdout=subprocess.DEVNULL)
    if any(find(program) is None for program in missing):
        print(f"{' '.join([*installer, *missing.values()])} failed with status {done.returncode}.", file=sys.stderr)
        print(SKIP_WITH, file=sys.stderr)
        return 1
    return 0


def _find_installer() -> list[str] | None:
    for program, command in INSTALLERS.items():
        if shutil.which(program) and (program == "brew" or os.geteuid() == 0):
            return command
    return None


if __name__ == "__main__":
    sys.exit(main())

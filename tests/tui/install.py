"""Installs tmux, which the tests of the terminal client run in, where a package manager is there to do it.

Run it as often as you like. Where it cannot be installed that is said here, and the tests are skipped by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

WAYS = (
    ("apt-get", ["apt-get", "install", "-y", "-qq", "tmux"]),
    ("dnf", ["dnf", "install", "-y", "-q", "tmux"]),
    ("apk", ["apk", "add", "-q", "tmux"]),
    ("brew", ["brew", "install", "-q", "tmux"]),
)


def main() -> int:
    if shutil.which("tmux"):
        return 0
    for program, command in WAYS:
        if shutil.which(program) and (program == "brew" or os.geteuid() == 0):
            print("installing tmux for the tests of the terminal client …")
            if program == "apt-get":
                subprocess.run(["apt-get", "update", "-qq"], check=False)
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
            break
    if shutil.which("tmux"):
        return 0
    print("tmux is not installed; the tests of the terminal client in a real terminal will be skipped", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

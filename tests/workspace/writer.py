"""Writes a file again and again, until it is killed: two contents in turn, a dot on standard output after each."""

from __future__ import annotations

import os
import signal
import sys

from accord.workspace.files import Files
from accord.workspace.place import Call
from accord.workspace.roots import Roots

CONTENTS = ["a" * 3_000_000 + "\n", "b" * 4_000_000 + "\n"]


class Suicidal(Call):
    """Kills its process at the nth step of a write."""

    left = 0

    def check_wanted(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def main() -> None:
    folder, step = sys.argv[1], int(sys.argv[2])
    disk = Files(Roots(folder), sync=False).disk
    call: Call = Call()
    if step >= 0:
        call = Suicidal()
        call.left = step
    while True:
        for content in CONTENTS:
            disk.write(f"{folder}/file.txt", content, call)
            os.write(1, b".")


if __name__ == "__main__":
    main()

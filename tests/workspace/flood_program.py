"""A program for tests: prints numbered lines with characters of one to four bytes, in writes of many odd sizes.

`flood_program.py LINES`. What it prints is known without running it: see `line`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

ALPHABET = "aé漢🙂"
WRITES = (65_521, 4_093, 1, 2, 3, 16_381, 7)  # cut characters everywhere


def line(number: int) -> bytes:
    return (f"{number:08d} " + ALPHABET * 99 + "\n").encode()


def blocks(first: int, after: int) -> Iterator[bytes]:
    for start in range(first, after, 1000):
        yield b"".join(line(number) for number in range(start, min(start + 1000, after)))


def main() -> None:
    rest = b""
    turn = 0
    for block in blocks(0, int(sys.argv[1])):
        rest += block
        done = 0
        while len(rest) - done >= 65_521:
            done += os.write(1, rest[done : done + WRITES[turn % len(WRITES)]])
            turn += 1
        rest = rest[done:]
    while rest:
        rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()

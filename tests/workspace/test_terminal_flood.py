"""A flood of output: memory stays small, the tail is exact, and everything else keeps running."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from workspace.flood_program import ALPHABET, blocks, line
from workspace.terminal_fixtures import until_printed

from accord.workspace.terminals import Terminals

CLIENT = str(Path(__file__).with_name("flood_client.py"))
MEGABYTE = 1_000_000


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    terminals = Terminals(grace=0.2)
    yield terminals
    await terminals.close()


def last(size: int, lines: int) -> bytes:
    """The last whole characters of the flood within a size."""
    needed = size // len(line(0)) + 2
    data = b"".join(blocks(lines - needed, lines))[-size:]
    while data[0] & 0xC0 == 0x80:
        data = data[1:]
    return data


@pytest.mark.req("V1-TERM-07", "V1-TERM-08")
def test_of_a_hundred_megabytes_the_last_one_is_exact_and_memory_stays_small() -> None:
    lines = 100 * MEGABYTE // len(line(0)) + 1
    limit = MEGABYTE
    while len(last(limit, lines)) == limit:  # the cut must fall inside a character, or it proves less
        limit += 1
    done = subprocess.run(
        [sys.executable, CLIENT, str(lines), str(limit)], capture_output=True, check=True, timeout=300
    )
    report = json.loads(done.stdout)
    expected = last(limit, lines)

    assert report["digest"] == hashlib.sha256(expected).hexdigest()
    assert limit - 3 <= report["size"] == len(expected) < limit
    assert (report["truncated"], report["code"]) == (True, 0)
    assert report["growth"] < 32 * MEGABYTE
    assert report["came"] + report["missed"] == lines * len(line(0)) > 100 * MEGABYTE
    assert report["missed"] == 0, "one who watches quickly misses nothing"


def test_the_flood_has_characters_of_every_length() -> None:
    assert [len(character.encode()) for character in ALPHABET] == [1, 2, 3, 4]
    assert line(7).startswith(b"00000007 a\xc3\xa9")


async def test_thirty_five_thousand_lines_are_watched_once(terminals: Terminals) -> None:
    id = await terminals.create("s", "seq 35000", cwd="/", pty=True)
    heard = [delta async for delta in terminals.subscribe(id)]
    whole = b"".join(b"%d\r\n" % number for number in range(1, 35_001))

    assert b"".join(delta.data for delta in heard) == whole
    assert sum(len(delta.data) for delta in heard) == len(whole), "no byte twice"


async def test_an_endless_flood_delays_no_other_command(terminals: Terminals) -> None:
    flood = await terminals.create("s", "yes", cwd="/", output_limit=100)
    await until_printed(terminals, flood, "y\ny\n")
    other = await terminals.create("s", "echo quick", cwd="/")
    await asyncio.wait_for(terminals.wait_for_exit(other), 60.0)

    assert terminals.output(other).text == "quick\n"
    assert terminals.output(flood).text == "y\n" * 50
    assert terminals.output(flood).truncated
    await asyncio.wait_for(terminals.kill(flood), 60.0)
    assert terminals.terminal(flood).output.size < 5 * 1024 * 1024

"""Measure the cost of saving sessions, and of listing, searching and replaying them. Adds a section to RESULTS.md.

Streams and loads are measured between two processes, in turns; a ratio is taken within a round, then the median. The
file with many sessions holds one row for every update, as it does when a model speaks a word at a time."""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from contenders import workload

import accord
from accord import SessionInfo, SqliteStore, Turn
from accord.store.database import PLACES

HERE = Path(__file__).resolve().parent
HEADING = "## Sessions in a file"
UPDATES = 5_000  # of each session
SESSIONS = 500
PER_MESSAGE = 200
VOCABULARY = 20_000


class Streamer(accord.Agent):
    """Sends the updates that the prompt asks for, with a file or without."""

    async def prompt(self, turn: Turn) -> None:
        word, _, count = turn.text.partition(" ")
        start = time.process_time()
        for number in range(int(count)):
            await turn.say(workload.token(number))
            if word == "tokens":
                await asyncio.sleep(0.0005)
        await turn.notice(str(time.process_time() - start))


def serve(path: str) -> None:
    agent = Streamer()
    if path:
        agent.store = SqliteStore(path)
    accord.run(agent)


# -- making files


def words(chance: random.Random) -> list[str]:
    """Return words with the frequencies of natural language: few are common, most are rare."""
    letters = "etaoinshrdlucmfw"
    vocabulary = ["".join(chance.choices(letters, k=chance.randrange(2, 9))) for _ in range(VOCABULARY)]
    return chance.choices(vocabulary, weights=[1 / (rank + 2) for rank in range(VOCABULARY)], k=200_000)


async def make(path: Path, sessions: int, updates: int) -> None:
    """Create a file with `sessions` sessions of `updates` updates each."""
    chance = random.Random(1)
    spoken = words(chance)
    async with SqliteStore(path) as store:
        await store.create(SessionInfo(id="s0", cwd="/project/0"))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.executemany(
        "INSERT INTO sessions (id, cwd, title, updated_at, directories, archived, changed) "
        "VALUES (?, ?, ?, ?, '[]', 0, ?)",
        (
            (
                f"s{n}",
                f"/project/{n % max(1, sessions // 50)}",
                f"Session {n}",
                f"2026-01-01T00:{n // 60 % 60:02}:{n % 60:02}Z",
                n + 1,
            )
            for n in range(1, sessions)
        ),
    )
    connection.execute("INSERT OR IGNORE INTO stale SELECT key FROM sessions")

    def rows() -> Iterator[tuple[int, bytes]]:
        encode = msgspec.json.encode
        for (key,) in connection.execute("SELECT key FROM sessions").fetchall():
            place, start = key << PLACES, chance.randrange(len(spoken) - updates)
            for number in range(updates):
                text = f"{spoken[start + number]} " if number != 77 or key % 50 else "needle "
                yield place + number + 1, encode([["agent", f"msg_{key}_{number // PER_MESSAGE}", text]])

    connection.executemany("INSERT INTO said VALUES (?, ?)", rows())
    connection.commit()
    connection.close()


def size(path: Path) -> int:
    return sum(os.path.getsize(each) for each in path.parent.glob(f"{path.name}*"))


# -- measuring


async def time_in_turns(work: dict[str, Callable[[], Awaitable[Any]]], times: int) -> dict[str, float]:
    """Time several kinds of work in turns, and return the lower quartile, which other load affects least."""
    took: dict[str, list[float]] = {name: [] for name in work}
    for number in range(times + 5):
        for name, do in work.items():
            start = time.perf_counter()
            await do()
            if number >= 5:  # once it is warm
                took[name].append(time.perf_counter() - start)
    return {name: statistics.quantiles(times, n=4)[0] for name, times in took.items()}


async def stream(agent: Any, prompt: str) -> tuple[float, float]:
    """Return the seconds for a turn, and the agent's CPU seconds in it."""
    session = await agent.new_session("/project")
    start = time.perf_counter()
    turn = await session.prompt(prompt)
    took = time.perf_counter() - start
    if turn.text != "".join(map(workload.token, range(int(prompt.split()[1])))):
        raise SystemExit("the client did not see what the agent sent")
    (notice,) = session.transcript.notices
    return took, float(notice.title)


def command(path: Path | None) -> list[str]:
    return [sys.executable, __file__, "--serve", str(path or "")]


async def streams_and_loads(folder: Path, rounds: int) -> dict[str, Any]:
    """Measure updates with a file and without, and a replayed session, in turns."""
    path = folder / "load.db"
    await make(path, 20, UPDATES)
    found: dict[str, list[float]] = {
        name: [] for name in ("plain", "filed", "plain cpu", "filed cpu", "load", "single")
    }
    async with accord.connect(command(None)) as plain, accord.connect(command(path)) as filed:
        for number in range(rounds + 1):
            one = {"plain": (await stream(plain, f"stream {4 * UPDATES}"))[0]}
            one["filed"] = (await stream(filed, f"stream {4 * UPDATES}"))[0]
            one["plain cpu"] = (await stream(plain, "tokens 300"))[1] / 300
            one["filed cpu"] = (await stream(filed, "tokens 300"))[1] / 300
            one["single"] = (await stream(plain, f"stream {UPDATES}"))[0]
            start = time.perf_counter()
            again = await filed.load_session(f"s{number % 20}", "/project/0")
            one["load"] = time.perf_counter() - start
            pieces = sum(len(item.pieces) for item in again.transcript.timeline if hasattr(item, "pieces"))
            if pieces != UPDATES:
                raise SystemExit(f"{pieces} of {UPDATES} updates were replayed")
            if number:  # the first one warms up
                for name, value in one.items():
                    found[name].append(value)
    return found


async def lists_and_searches(folder: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    for count in (50, 5_000):
        await make(folder / f"list{count}.db", count, 1)
    async with SqliteStore(folder / "list50.db") as few, SqliteStore(folder / "list5000.db") as many:
        work = {
            "list 50": few.list,
            "list 5000": many.list,
            "folder 50": lambda: few.list(cwd="/project/0"),
            "folder 5000": lambda: many.list(cwd="/project/0"),
        }
        figures |= await time_in_turns(work, 300)
    path = folder / "many.db"
    await make(path, SESSIONS, UPDATES)
    async with SqliteStore(path) as store:
        start = time.perf_counter()
        await store.search("needle")
        figures["indexed"] = time.perf_counter() - start
        figures["size"] = size(path)
        # A word in most messages, and one in few: common words cost most.
        counts = Counter(words(random.Random(1)))
        common = next(word for word, _ in counts.most_common() if len(word) > 3)
        if len(await store.search("needle", limit=50)) != SESSIONS // 50 or len(await store.search(common)) != 20:
            raise SystemExit("the search missed a session")
        texts = {"rare": "needle", "common": common, "absent": "xyzzy", "two": f"needle {common}"}
        searches = {f"search {name}": functools.partial(store.search, text) for name, text in texts.items()}
        figures |= await time_in_turns({"list many": store.list, **searches}, 200)
    return figures


# -- telling


def page(streamed: dict[str, Any], found: dict[str, float], rounds: int) -> tuple[str, bool]:
    def ratio(above: str, below: str) -> float:
        return statistics.median(a / b for a, b in zip(streamed[above], streamed[below], strict=True))

    def each(name: str, count: int) -> str:
        return f"{statistics.median(streamed[name]) / count * 1e6:.2f}"

    searches = ("rare", "common", "absent", "two")
    slowest = max(found[f"search {name}"] for name in searches)
    goals = [
        ("first page of the list, 5,000 sessions over 50", found["list 5000"] / found["list 50"], "≤", 1.5),
        ("first page of one directory, 5,000 sessions over 50", found["folder 5000"] / found["folder 50"], "≤", 1.5),
        ("updates a second when replayed, over W1's", ratio("single", "load"), "≥", 0.3),
        (
            f"slowest search in {SESSIONS} × {UPDATES:,} updates, over the first page",
            slowest / found["list many"],
            "≤",
            5.0,
        ),
    ]
    rows = [
        [
            "a streamed update, µs (W1)",
            each("plain", 4 * UPDATES),
            each("filed", 4 * UPDATES),
            f"{ratio('filed', 'plain'):.2f}",
        ],
        [
            "an update that comes alone, agent CPU µs",
            each("plain cpu", 1),
            each("filed cpu", 1),
            f"{ratio('filed cpu', 'plain cpu'):.2f}",
        ],
    ]
    took = [
        ["first page of 50 sessions", found["list 50"]],
        ["first page of 5,000 sessions", found["list 5000"]],
        [f"first page of {SESSIONS} sessions of {UPDATES:,} updates", found["list many"]],
        *([f"search there: {name}", found[f"search {name}"]] for name in searches),
        [f"a session of {UPDATES:,} updates replayed to a client", statistics.median(streamed["load"])],
        [f"the same {UPDATES:,} updates streamed without a file", statistics.median(streamed["single"])],
    ]
    met = all(value <= bound if sign == "≤" else value >= bound for _, value, sign, bound in goals)
    text = f"""{HEADING}

Made by `python bench/store.py --rounds {rounds}` (SQLite {sqlite3.sqlite_version}, Python {
        sys.version.split()[0]
    }). An index of
{SESSIONS * UPDATES:,} updates was filled in {found["indexed"]:.0f} s; the file then has {
        found["size"] / 2**20:.0f} MiB.

{table(["", "without a file", "in a file", "ratio"], rows)}

{table(["", "ms"], [[name, f"{seconds * 1e3:.2f}"] for name, seconds in took])}

{
        table(
            ["goal", "measured", "", ""],
            [
                [
                    name,
                    f"{value:.2f}",
                    f"{sign} {bound:g}",
                    "met" if (value <= bound) == (sign == "≤") else "**missed**",
                ]
                for name, value, sign, bound in goals
            ],
        )
    }
"""
    return text, met


def table(heads: list[str], rows: list[list[Any]]) -> str:
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [heads, ["---"] * len(heads), *rows])


def write(text: str) -> None:
    """Replace this section at the end of the results."""
    results = HERE / "RESULTS.md"
    others = results.read_text().partition(HEADING)[0].rstrip() if results.exists() else "# Results"
    results.write_text(f"{others}\n\n{text}")


async def measure(rounds: int) -> tuple[str, bool]:
    with tempfile.TemporaryDirectory() as folder:
        streamed = await streams_and_loads(Path(folder), rounds)
        found = await lists_and_searches(Path(folder))
    return page(streamed, found, rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="how often streams and loads are measured (default 9)")
    parser.add_argument("--dry", action="store_true", help="print the tables, leave RESULTS.md alone")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    text, met = asyncio.run(measure(options.rounds))
    print(text)
    if not options.dry:
        write(text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

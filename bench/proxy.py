"""Measure what a proxy costs: the same client and agent, with and without proxies between them.

The client and the agent of `accord.v1` play W1 (a stream of small chunks) and W2 (requests, one after another). Setups
take turns; a ratio is taken inside a round, then the median. CPU time is that of all processes together."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HEADING = "## Proxies"
CLIENT = [sys.executable, str(HERE / "contenders" / "accord_wire_client.py")]
AGENT = [sys.executable, str(HERE / "contenders" / "accord_wire_agent.py")]
SELF = [sys.executable, str(Path(__file__).resolve())]
SETUPS = {
    "no proxy": AGENT,
    "a proxy": [*SELF, "--pass", *AGENT],
    "a proxy that handles every update": [*SELF, "--handle", *AGENT],
    "a conductor, a proxy": [*SELF, "--conduct", "1", *AGENT],
    "a conductor, three proxies": [*SELF, "--conduct", "3", *AGENT],
}
DIRECT = "no proxy"
CHUNKS, REQUESTS = 20_000, 1000
MICRO = 1e6

Round = dict[str, dict[str, float]]


def serve(words: list[str]) -> None:
    """Be a proxy or a conductor, as a setup says."""
    from accord import v1
    from accord.proxy import Conductor, Notification, Proxy, run, to_client

    class Handling(Proxy):
        @to_client(v1.methods.SESSION_UPDATE)
        async def update(self, notification: Notification[v1.SessionNotification]) -> None:
            await notification.forward()

    match words:
        case ["--pass", *successor]:
            run(Proxy(), successor or None)
        case ["--handle", *successor]:
            run(Handling(), successor)
        case ["--conduct", count, *agent]:
            run(Conductor(*([[*SELF, "--pass"]] * int(count)), agent))


def play(workload: str, count: int, agent: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [*CLIENT, workload, str(count), *agent], stdout=subprocess.PIPE, check=True, cwd=HERE / "contenders"
    )
    run: dict[str, Any] = json.loads(done.stdout)
    return run


def measure(rounds: int) -> list[Round]:
    found: list[Round] = []
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        names = list(SETUPS)
        first = number % len(names)
        figures: Round = {}
        for name in names[first:] + names[:first]:
            stream, calls = play("W1", CHUNKS, SETUPS[name]), play("W2", REQUESTS, SETUPS[name])
            figures[name] = {
                "cpu": stream["both"] / CHUNKS * MICRO,
                "wall": stream["wall"] / CHUNKS * MICRO,
                "call": calls["both"] / REQUESTS * MICRO,
            }
        found.append(figures)
    return found


def page(found: list[Round], rounds: int) -> str:
    rows = []
    for name in SETUPS:
        cells = [name]
        for figure in ("cpu", "wall", "call"):
            value = statistics.median(each[name][figure] for each in found)
            ratio = statistics.median(each[name][figure] / each[DIRECT][figure] for each in found)
            cells += [f"{value:.1f}", f"{ratio:.2f}"]
        rows.append(cells)
    heads = [
        "", "stream: CPU µs a message", "ratio", "stream: wall µs a message", "ratio", "round trip: CPU µs", "ratio",
    ]  # fmt: skip
    lines = ["| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *rows]]
    return f"""{HEADING}

`python bench/proxy.py --rounds {rounds}`: {CHUNKS:,} chunks of one turn, and {REQUESTS:,} requests one after another,
between the client and the agent of `accord.v1`. Every proxy and the conductor is another process. CPU time is that of
all processes. Medians.

{chr(10).join(lines)}
"""


def write(text: str) -> None:
    """Replace this section in the results."""
    results = HERE / "RESULTS.md"
    others, _, rest = results.read_text().partition(HEADING)
    after = rest[rest.index("\n## ") :].strip() if "\n## " in rest else ""
    results.write_text("\n\n".join(part.strip() for part in (others, text, after) if part) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each setup is measured (default 5)")
    parser.add_argument("--dry", action="store_true", help="print the table, leave RESULTS.md alone")
    options = parser.parse_args()
    text = page(measure(options.rounds), options.rounds)
    print(text)
    if not options.dry:
        write(text)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("--pass", "--handle", "--conduct"):
        serve(sys.argv[1:])
        sys.exit(0)
    sys.exit(main())

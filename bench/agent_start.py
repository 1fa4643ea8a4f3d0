"""Measure how fast `accord agent` answers `initialize`, relative to a Python that only imports what every agent needs.

Both are measured in turns, from the start of the process: to the answer, and to the end of the import. The ratio is of
the medians. The goal: at most 1.3 times. Status 1 when it is missed."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 1.3
SCRIPT = Path(sys.executable).with_name("accord")
AGENT = [str(SCRIPT), "agent"] if SCRIPT.exists() else [sys.executable, "-m", "accord", "agent"]
BARE = [sys.executable, "-c", "import accord.agent.run, accord.agent.v1.dialect"]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="pairs to measure (default 9)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = ours | {f"ACCORD_{name}_HOME": folder for name in ("CONFIG", "DATA", "CACHE")}
        bare(environment), hello(environment)  # warm up the disk cache and bytecode
        pairs = [(bare(environment), hello(environment)) for _ in range(rounds)]
    alone, answered = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = answered / alone
    print(f"accord agent, start to its first answer: {answered:.0f} ms; the bare import: {alone:.0f} ms")
    print(f"ratio {ratio:.2f} (medians of {rounds}), goal at most {GOAL:g}: {'reached' if ratio <= GOAL else 'MISSED'}")
    return 0 if ratio <= GOAL else 1


def bare(environment: dict[str, str]) -> float:
    """Return the seconds from start to end of a process that only imports."""
    start = time.perf_counter()
    subprocess.run(BARE, env=environment, check=True)
    return time.perf_counter() - start


def hello(environment: dict[str, str]) -> float:
    """Return the seconds until the agent has answered."""
    start = time.perf_counter()
    with subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(json.dumps(HELLO).encode() + b"\n")
        agent.stdin.flush()
        answer = agent.stdout.readline()
        took = time.perf_counter() - start
        agent.stdin.close()
    if "result" not in json.loads(answer):
        raise SystemExit(f"no answer, but {answer!r}")
    return took


if __name__ == "__main__":
    sys.exit(main())

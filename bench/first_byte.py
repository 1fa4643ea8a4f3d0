"""Measure how fast `accord run "hello"` prints, relative to the same agent with blocking reads and writes.

Both are measured in turns, from the start of the process to the first byte of the answer; the ratio is taken within a
pair, then the median. The goal: at most twice the agent's own time. Status 1 when it is missed."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 2.0
SCRIPT = Path(sys.executable).with_name("accord")
ACCORD = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "accord"]
AGENT = [sys.executable, str(Path(__file__).resolve().parent.parent / "examples" / "echo_agent.py")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="pairs to measure (default 15)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        raw(environment), through_accord(environment)  # warm up the disk cache and bytecode
        pairs = [_pair(environment, number) for number in range(rounds)]
    ratio = statistics.median(ours / theirs for theirs, ours in pairs)
    agent, run = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"the agent's own answer {agent:.0f} ms, accord run {run:.0f} ms (medians of {rounds})")
    print(f"ratio {ratio:.2f}, goal at most {GOAL:g}: {'reached' if ratio <= GOAL else 'MISSED'}")
    return 0 if ratio <= GOAL else 1


def _pair(environment: dict[str, str], number: int) -> tuple[float, float]:
    if number % 2:
        ours = through_accord(environment)
        return raw(environment), ours
    return raw(environment), through_accord(environment)


def _environment(folder: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return ours | {f"ACCORD_{name}_HOME": folder for name in ("CONFIG", "DATA", "CACHE")}


def through_accord(environment: dict[str, str]) -> float:
    """Return the seconds until `accord run` prints something."""
    command = [*ACCORD, "run", "--agent", shlex.join(AGENT), "hello"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1)
        took = time.perf_counter() - start
        process.stdout.read()
    if not first or process.returncode != 0:
        raise SystemExit(f"accord run exited with status {process.returncode}")
    return took


def raw(environment: dict[str, str]) -> float:
    """Return the seconds until the agent sends text, with blocking writes and reads."""
    start = time.perf_counter()
    with subprocess.Popen(AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        output = os.fdopen(os.dup(agent.stdout.fileno()), "rb")

        def ask(id: int, method: str, **params: object) -> dict[str, object]:
            line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            agent.stdin.write(line.encode() + b"\n")  # type: ignore[union-attr]
            message: dict[str, object] = json.loads(output.readline())
            return message

        ask(0, "initialize", protocolVersion=1, clientCapabilities={})
        answer = ask(1, "session/new", cwd=os.getcwd(), mcpServers=[])
        session = answer["result"]["sessionId"]  # type: ignore[index]
        told = ask(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "hello"}])
        while told.get("method") != "session/update" or "agent_message_chunk" not in json.dumps(told):
            told = json.loads(output.readline())
        took = time.perf_counter() - start
        agent.stdin.close()
        output.close()
    return took


if __name__ == "__main__":
    sys.exit(main())

"""Run the benchmarks and write RESULTS.md: agent and client are two processes over stdio, and contenders take turns.

README.md says what a contender must do. Only ratios inside one run mean something; two runs do not compare."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import tables
from workloads import WORKLOADS, Workload

from registry import COMMON_AGENT, CONTENDERS, Contender

HERE = Path(__file__).resolve().parent
DEADLINE = 120.0  # seconds, for one run of one contender at scale 1
INITIALIZE = (
    b"""{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n"""
)


class Failed(Exception):
    """A contender didn't do the work; the message says why."""


class Initialized(msgspec.Struct, rename="camel"):
    protocol_version: int


class Answer(msgspec.Struct):
    id: int
    result: Initialized


def main() -> int:
    options = arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else W6 measures the compiler, which installed SDKs don't need
    contenders, absent = present(options.contenders)
    chosen = [work for work in WORKLOADS if options.only is None or work.name in options.only]
    if options.cpu:  # the clocks are in `measure.py`
        contenders = [contender for contender in contenders if contender.language == "py"]
        chosen = [replace(work, figures=(work.cpu_figure,)) for work in chosen if work.cpu_figure is not None]
    figures: tables.Figures = {}
    failures: list[str] = []
    for work in chosen:
        figures.update(measure(work, contenders, options, failures))
    notes = [f"Not here: {title} ({reason})." for title, reason in absent]
    text = f"{preface(options)}\n\n{tables.page(figures, contenders)}\n"
    if notes or failures:
        text += "\n## Notes\n\n" + "\n".join(f"- {note}" for note in [*notes, *failures]) + "\n"
    print(text)
    if not options.dry and not options.cpu:
        (HERE / "RESULTS.md").write_text(text)
    return 1 if failures else 0


def arguments() -> argparse.Namespace:
    def names(value: str) -> list[str]:
        return value.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender runs (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the length of W1 to W4 and W8")
    parser.add_argument("--only", type=names, help="workloads, as W1,W2")
    parser.add_argument("--contenders", type=names, help="contenders, as python_sdk,raw_asyncio")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="measure CPU time of client and agent together instead of wall time; for busy machines, implies --dry",
    )
    parser.add_argument("--dry", action="store_true", help="print the tables, leave RESULTS.md alone")
    options = parser.parse_args()
    known = {"--only": [w.name for w in WORKLOADS], "--contenders": [c.name for c in CONTENDERS]}
    for option, given in (("--only", options.only), ("--contenders", options.contenders)):
        if unknown := [name for name in given or [] if name not in known[option]]:
            parser.error(f"{option}: no {', '.join(unknown)}; there are {', '.join(known[option])}")
    return options


def present(wanted: list[str] | None) -> tuple[list[Contender], list[tuple[str, str]]]:
    """Return the contenders that can run here, and why others can't."""
    named = [contender for contender in CONTENDERS if wanted is None or contender.name in wanted]
    reasons = [(contender, contender.missing()) for contender in named]
    here = [contender for contender, reason in reasons if reason is None]
    return here, [(contender.title, reason) for contender, reason in reasons if reason]


def measure(
    work: Workload, contenders: list[Contender], options: argparse.Namespace, failures: list[str]
) -> tables.Figures:
    """Run all rounds of one workload. A different contender starts each round."""
    able = [contender for contender in contenders if work.needs(contender)]
    figures: tables.Figures = {figure.key: [] for figure in work.figures}
    count = work.scale_count(options.scale)
    rounds = min(options.rounds, work.rounds or options.rounds)
    for number in range(rounds):
        print(f"{work.name} {work.title}: round {number + 1} of {rounds}", file=sys.stderr)
        for rows in figures.values():
            rows.append({})
        first = number % len(able) if able else 0
        for contender in able[first:] + able[:first]:
            try:
                run = run_once(work, contender, count, DEADLINE * max(1.0, options.scale))
            except Failed as failed:
                failures.append(f"{work.name}, {contender.title}: {failed}")
                continue
            for figure in work.figures:
                figures[figure.key][-1][contender.name] = figure.read(run, count)
    return figures


def run_once(work: Workload, contender: Contender, count: int, within: float) -> dict[str, Any]:
    """Run one contender once, and return the checked output of its client; for W6, our own measurement."""
    common = next(other for other in CONTENDERS if other.name == COMMON_AGENT)
    agent = (common if work.common_agent else contender).agent()
    start, used = time.perf_counter(), children_cpu()
    line = run_client([*contender.client(), work.name, str(count), *agent], within, work.one_core)
    took, used = time.perf_counter() - start, children_cpu() - used
    try:
        run: dict[str, Any] = json.loads(line)
        if not work.check(run, count):
            raise Failed(f"the client did not see what the agent sent: {line}")
    except (ValueError, KeyError) as error:
        raise Failed(f"the client printed {line!r} ({error!r})") from None
    if work.name == "W6":
        run = {"both": used, "client": took, "agent": spawn_to_initialize(contender.agent())}
    return run


def children_cpu() -> float:
    """Return the CPU time of ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_client(command: list[str], within: float, one_core: bool) -> str:
    """Run a client in its own process group, so that a timeout ends its agent as well."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=stay_on_one_core if one_core else None,
    )
    try:
        output, complaints = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"no end within {within:.0f} s") from None
    if process.returncode != 0:
        last = (complaints.strip().splitlines() or ["it said nothing"])[-1]
        raise Failed(f"the client exited with status {process.returncode}: {last}")
    return (output.strip().splitlines() or [""])[-1]


def stay_on_one_core() -> None:
    """Pin this process and its children to one core, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def spawn_to_initialize(command: list[str], within: float = 20.0) -> float:
    """Return the seconds from starting an agent to its response to `initialize`."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(INITIALIZE)
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([agent.stdout], [], [], within)
            data = os.read(agent.stdout.fileno(), 65536) if ready else b""
            if not data:
                agent.kill()
                raise Failed("the agent did not answer initialize")
            line += data
        took = time.perf_counter() - start
        agent.stdin.close()
        try:
            agent.wait(within)
        except subprocess.TimeoutExpired:
            agent.kill()
            raise Failed("the agent did not end when its input was closed") from None
    if msgspec.json.decode(line, type=Answer).result.protocol_version != 1:
        raise Failed(f"the agent answered initialize with {line!r}")
    return took


def preface(options: argparse.Namespace) -> str:
    flags = ["--cpu"] if options.cpu else []
    flags += [f"--rounds {options.rounds}", f"--scale {options.scale:g}"]
    flags += [f"--only {','.join(options.only)}"] if options.only else []
    flags += [f"--contenders {','.join(options.contenders)}"] if options.contenders else []
    node = ""
    if shutil.which("node"):
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
        node = f", Node {version.lstrip('v')}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()}, {python}{node}, {os.cpu_count()} cores"
    return f"""# Results

Made by `python bench/run.py {" ".join(flags)}` on {machine}.
Agent and client are two processes over stdio; contenders take turns; a ratio is taken inside a round, then the
median, with quartiles in brackets. Absolute figures depend on the machine and its load: only ratios of a run count."""


if __name__ == "__main__":
    sys.exit(main())

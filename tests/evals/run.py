"""Let agents solve the tasks, and compare them: `make eval-live MODEL=… BUDGET=5`.

Each task runs in its own temporary directory, with every permission granted."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.task import Task, load_tasks

import accord
from accord.errors import AccordError, RequestFailed

TURN_SECONDS = 900.0


class NoAnswer(Exception):
    """The first task ended before the model had answered once: the address, the key or the name is wrong."""


class UnknownPrice(Exception):
    """A budget was set for a model whose price isn't known."""


@dataclass
class Result:
    """The outcome of one task, and its cost."""

    task: str
    problem: str | None = None
    is_overspent: bool = False
    is_unanswered: bool = False
    """Whether it failed before the model had answered."""
    requests: int = 0
    failed_calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Configuration:
    """An agent to measure: how it is started, and its column in the table."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


async def run_task(task: Task, agent: Configuration, directory: Path, budget: float | None = None) -> Result:
    """Start an agent, and let it solve a task in an empty directory."""
    connection = accord.connect(agent.command, cwd=directory, env=agent.environment, permissions=accord.allow_all)
    started = time.monotonic()
    try:
        async with connection as client:
            result = await solve(task, client, directory, budget)
    except (AccordError, OSError) as error:
        result = Result(task.name, _one_line(error), is_unanswered=True)
    result.seconds = time.monotonic() - started
    return result


async def solve(task: Task, client: accord.ConnectedAgent, directory: Path, budget: float | None = None) -> Result:
    """Let an agent solve a task in a new session. The turn is cancelled when it has spent the budget."""
    task.create(directory)
    result = Result(task.name)
    reply = ""
    try:
        async with asyncio.timeout(TURN_SECONDS):
            session = await client.new_session(cwd=str(directory))
            if task.mode is not None:
                await session.set_mode(task.mode)
            turn = session.prompt(task.prompt)
            try:
                async for event in turn:
                    if isinstance(event, accord.Usage):  # the agent reports it after each request
                        result.requests += 1
                        result.cost = event.cost.amount if event.cost is not None else result.cost
                        if budget is not None and (result.cost or 0.0) >= budget and not result.is_overspent:
                            result.is_overspent = True
                            await session.cancel()
                reply = turn.text
            finally:
                _measure(turn, result)
    except (AccordError, TimeoutError) as error:
        result.problem = _one_line(error) or "the turn took too long"
        result.is_unanswered = isinstance(error, AccordError) and not result.requests
        return result
    result.problem = await asyncio.to_thread(task.find_problem, directory, reply)
    if result.problem is not None and result.is_overspent:  # the last request may have been the final one
        result.problem = "the budget was spent"
    return result


def _one_line(error: Exception) -> str:
    text = error.explanation if isinstance(error, RequestFailed) else str(error)
    return " ".join(text.split())


def _measure(turn: Any, result: Result) -> None:
    result.failed_calls = sum(call.status == "failed" for call in turn.tool_calls)
    if turn.tokens is not None:
        result.input, result.output = turn.tokens.input, turn.tokens.output
        result.cached = turn.tokens.cached_read or 0


async def run_all(
    agents: Sequence[Configuration],
    tasks: Sequence[Task],
    budget: float | None,
    report: Callable[[Configuration, Result], None],
) -> list[list[Result]]:
    """Run every task with every agent, task by task, until the budget (in US dollars) is spent.

    The agents take turns, so that each has had the same tasks when the money runs out."""
    results: list[list[Result]] = [[] for _ in agents]
    left = budget
    for task in tasks:
        for row, agent in zip(results, agents, strict=True):
            with tempfile.TemporaryDirectory(prefix="accord-eval-", ignore_cleanup_errors=True) as directory:
                result = await run_task(task, agent, Path(directory), left)
            if not row and result.is_unanswered:
                raise NoAnswer(f"{agent.name}: {result.problem}")
            row.append(result)
            report(agent, result)
            if left is not None:
                if result.requests and result.cost is None:
                    raise UnknownPrice(f"the price of {agent.name} isn't known, so a budget can't be kept: BUDGET=none")
                left -= result.cost or 0.0
        if left is not None and left <= 0:
            break
    return results


def summarize(names: Sequence[str], results: Sequence[Sequence[Result]], total: int) -> str:
    """Format the results as a Markdown table with one column for each agent."""
    rows = {
        "pass@1": [f"{sum(r.problem is None for r in row)} of {len(row)}" for row in results],
        "requests": [str(sum(r.requests for r in row)) for row in results],
        "failed calls": [str(sum(r.failed_calls for r in row)) for row in results],
        "tokens in": [f"{sum(r.input for r in row):,}" for row in results],
        "tokens cached": [f"{sum(r.cached for r in row):,}" for row in results],
        "tokens out": [f"{sum(r.output for r in row):,}" for row in results],
        "cost": [_format_cost(row) for row in results],
        "seconds": [f"{sum(r.seconds for r in row):.0f}" for row in results],
    }
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {title} | {' | '.join(cells)} |" for title, cells in rows.items()]
    if (done := len(results[0])) < total:
        lines += ["", f"The budget was spent after {done} of {total} tasks."]
    if len(results) == 2:
        lines += ["", compare(*results)]
    return "\n".join(lines)


def compare(first: Sequence[Result], second: Sequence[Result]) -> str:
    """Say whether two agents differ, by a two-sided sign test over the tasks that only one of them solved."""
    pairs = [(one.problem is None, other.problem is None) for one, other in zip(first, second, strict=True)]
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    count = only_first + only_second
    tail = sum(math.comb(count, k) for k in range(min(only_first, only_second) + 1)) / 2**count
    probability = min(1.0, 2 * tail)
    return (
        f"Solved by the first only: {only_first}, by the second only: {only_second} (sign test: p = {probability:.2f})."
    )


def _format_cost(row: Sequence[Result]) -> str:
    known = [result.cost for result in row if result.cost is not None]
    if not known:
        return "unknown"
    return f"${sum(known):.4f}" + ("" if len(known) == len(row) else " (not all prices are known)")


def configure(
    models: Sequence[str], files: Sequence[str], base_url: str | None, directory: Path
) -> list[Configuration]:
    """Return the agents to compare: one for each model, or for each configuration file.

    The user's own configuration has no effect, only keys have. A model may be the command of another ACP agent."""
    count = max(len(models), len(files))
    if {len(models), len(files)} - {0, 1, count}:
        raise ValueError("as many models as configuration files, or only one of either")
    if base_url and files:
        raise ValueError("set base_url in the configuration files")
    found = []
    for number in range(count):
        model = models[number % len(models)] if models else None
        path = Path(files[number % len(files)]).resolve() if files else directory / f"{number}.toml"
        if not files:
            provider = (model or "").partition(":")[0]
            url = f"[coder.providers.{provider}]\nbase_url = {json.dumps(base_url)}\n" if base_url else ""
            path.write_text(url, encoding="utf-8")
        elif not path.is_file():
            raise ValueError(f"there is no {path}")
        name = " ".join([*([model] if model else []), *([path.stem] if files else [])])
        found.append(Configuration(name, _command(model), {"ACCORD_CONFIG": str(path)}))
    return found


def _command(model: str | None) -> list[str]:
    if model is not None and " " in model:
        return shlex.split(model)
    return [sys.executable, "-P", "-m", "accord", "agent", "--memory", *(["--model", model] if model else [])]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make eval-live", description=__doc__)
    parser.add_argument("--model", default="", help="models as PROVIDER:NAME, separated by commas")
    parser.add_argument("--config", default="", help="configuration files, separated by commas")
    parser.add_argument("--base-url", help="where the provider of the models is")
    parser.add_argument("--budget", default="5", help="stop when this much is spent in US dollars, or none")
    parser.add_argument("--tasks", default="", help="only these tasks, separated by commas")
    parser.add_argument("--runs", type=int, default=1, help="how often to run each task")
    options = parser.parse_args(arguments)
    known = {task.name: task for task in load_tasks()}
    if unknown := set(_split(options.tasks)) - set(known):
        parser.exit(2, f"make eval-live: no such task: {', '.join(sorted(unknown))}. There are {', '.join(known)}\n")
    tasks = [known[name] for name in _split(options.tasks) or known] * options.runs

    def report(agent: Configuration, result: Result) -> None:
        print(f"{agent.name}: {result.task}: {result.problem or 'passed'}", flush=True)

    with tempfile.TemporaryDirectory(prefix="accord-eval-") as directory:
        try:
            budget = None if options.budget == "none" else float(options.budget)
            agents = configure(_split(options.model), _split(options.config), options.base_url, Path(directory))
            if not agents:
                parser.exit(2, "make eval-live: say what to measure: MODEL=provider:name, or CONFIG=file.toml\n")
            results = asyncio.run(run_all(agents, tasks, budget, report))
        except (ValueError, NoAnswer, UnknownPrice) as error:
            parser.exit(2, f"make eval-live: {error}\n")
    print(f"\n{summarize([agent.name for agent in agents], results, len(tasks))}")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


if __name__ == "__main__":
    main()

"""Actions that run commands and project tasks, fetch URLs and switch the mode."""

from __future__ import annotations

import re
import shlex

from accord.coder.history import Result
from accord.coder.offline import requests as r
from accord.coder.offline.replies import fence, file_in, join_names, language_of, names_in, pluralize
from accord.coder.offline.script import Script, Situation, Stopped, call, data_of, use
from accord.coder.offline.tasks import BUILD_FILES, Project, find_python

EXAMPLES = {"test": "pytest", "lint": "ruff check .", "format": "ruff format .", "build": "make"}
"""A command for each task, for replies."""


def run(step: r.Run, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation, f"Running `{_short(step.command)}`…", call("run_command", command=step.command)
    )
    return _describe(step.command, result)


def run_file(step: r.RunFile, situation: Situation) -> Script[str]:
    runners = {"py": situation.python, "sh": "sh", "js": "node", "rb": "ruby", "go": "go run", "pl": "perl"}
    runner = runners.get(language_of(step.path))
    if runner is None:
        raise Stopped(f"I don't know how to run `{step.path}`. Say the whole command: run `…`.")
    return (yield from run(r.Run(command=f"{runner} {shlex.quote(step.path)}"), situation))


def _short(command: str) -> str:
    first, *rest = command.split("\n")
    return first[:100] + (" …" if rest or len(first) > 100 else "")


def _describe(command: str, result: Result) -> str:
    """Describe how a command ended, with the end of its output. If it failed, raise `Stopped`."""
    data = data_of(result)
    output = data["output"].strip("\n")
    shown = f":\n\n{fence(output, limit=30, tail=True)}" if output else " and printed nothing."
    if data["exitCode"]:
        raise Stopped(f"`{_short(command)}` failed with exit status {data['exitCode']}{shown}")
    return f"`{_short(command)}` succeeded{shown}"


def inspect_project(situation: Situation, status: str, *more: str) -> Script[Project]:
    """Read the files that define how the project is tested, linted, formatted and built."""
    (listing,) = yield from use(situation, status, call("list_files", path="."))
    names = names_in(listing)
    present = [name for name in (*BUILD_FILES, *more) if name in names]
    texts: dict[str, str] = {}
    if present:
        results = yield from use(
            situation,
            f"Reading {join_names(present, 9)}…",
            *(call("read_file", file_path=name) for name in present),
            lenient=True,
        )
        texts = {name: file_in(result).text for name, result in zip(present, results, strict=True) if not result.failed}
    return Project(names, texts, find_python([*names, *data_of(listing)["ignored"]], situation.python))


def run_task(step: r.RunTask, situation: Situation) -> Script[str]:
    situation.require("run_command", "list_files", "read_file")
    project = yield from inspect_project(situation, f"Looking for the {step.task} command…")
    found = project.command(step.task, step.only)
    if found is None:
        example = EXAMPLES[step.task]
        raise Stopped(f"Found no {step.task} command in this project. Tell me one, for example: run `{example}`.")
    command, where = found
    (result,) = yield from use(
        situation, f"Running `{command}` (from {where})…", call("run_command", command=command, timeout=600)
    )
    failures = [] if step.task != "test" else find_failed_tests(data_of(result)["output"])
    try:
        return _describe(command, result)
    except Stopped as stopped:
        if failures:
            raise Stopped(
                f"{pluralize(len(failures), 'test')} failed: {join_names(failures, 10)}.\n\n{stopped.words}"
            ) from None
        raise


def find_failed_tests(output: str) -> list[str]:
    """Find the names of failed tests in the output of pytest, unittest, cargo or go."""
    patterns = (
        r"^FAILED (\S+)",
        r"^(?:FAIL|ERROR): (\w+) \(",
        r"^test (\S+) \.\.\. FAILED",
        r"^\s*--- FAIL: (\S+)",
        r"^ERROR (\S+::\S+|\S+\.py)",
    )
    found = [name for pattern in patterns for name in re.findall(pattern, output[-50_000:], re.MULTILINE)]
    return list(dict.fromkeys(found))


def fetch(step: r.Fetch, situation: Situation) -> Script[str]:
    (result,) = yield from use(situation, f"Fetching {step.url}…", call("fetch_url", url=step.url))
    lines = result.text.strip("\n").count("\n") + 1
    return f"{step.url} returned {pluralize(lines, 'line')}:\n\n{fence(result.text)}"


def switch_mode(step: r.SwitchMode, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation,
        f"Switching to {step.mode} mode…",
        call("switch_mode", mode=step.mode, reason=f"You asked for {step.mode} mode."),
    )
    mode = data_of(result)
    if mode["mode"] != step.mode:
        raise Stopped(result.text.strip())
    return f"The mode is {'already' if mode['before'] == step.mode else 'now'} {step.mode}."

"""Run the checkers that the user has configured for a file, after it was edited.

Checkers come from the user's configuration, or from that of a trusted project. An untrusted project runs nothing."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Mapping

from accord.coder.tools.base import ToolContext, ToolError
from accord.coder.tools.project.paths import origin, relative
from accord.coder.tools.project.program import run_program
from accord.coder.tools.text import head_and_tail, plain_output
from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.workspace.globs import compile_name_glob

TIMEOUT_SECONDS = 20.0
MAX_FILES = 10
"""The most files of one change that are checked."""
MAX_OUTPUT_BYTES = 200_000
HEAD_CHARS = 2_000
TAIL_CHARS = 2_000
FILE = "{file}"


def commands_for(path: str, checkers: Mapping[str, str]) -> list[list[str]]:
    """Return the commands that check a file, by its path from the working directory. Raises `ToolError`."""
    found: list[list[str]] = []
    for glob, template in checkers.items():
        if compile_name_glob(glob).fullmatch(path) is None:
            continue
        try:
            words = shlex.split(template)
        except ValueError as error:
            raise ToolError(f"the checker for {glob} is invalid: {error}") from None
        if any(_quotes_file(word) for word in words):
            raise ToolError(f"the checker for {glob} is invalid: {FILE} is quoted already; remove the quotes around it")
        # A name such as `-x` must not become an option.
        file = os.path.join(os.curdir, path) if path.startswith("-") else path
        if words:
            has_place = any(FILE in word for word in words)
            found.append([_insert(file, word) for word in words] + ([] if has_place else [file]))
    return found


def _quotes_file(word: str) -> bool:
    """Return whether a script puts the file's name in quotes. Ours would end them: the name could run commands."""
    if len(word.split()) == 1:
        return False
    for before in itertools.accumulate(word.split(FILE)[:-1], lambda one, other: f"{one}file{other}"):
        try:
            shlex.split(before, comments=False)
        except ValueError:
            return True
    return False


def _insert(file: str, word: str) -> str:
    """Put a file's name into a word of a command. It is quoted in a script for a shell, which has spaces."""
    return word.replace(FILE, shlex.quote(file) if len(word.split()) > 1 else file)


async def run_checkers(ctx: ToolContext, paths: list[str]) -> str:
    """Check files that were written. Returns the output of the failing checkers, for the model."""
    checkers = ctx.state.settings.check
    if not checkers:
        return ""
    described = ""
    for path in paths[:MAX_FILES]:
        try:
            for argv in commands_for(relative(ctx, path), checkers):
                described += await _run(ctx, argv)
        except ToolError as error:
            described += f"\n[{error}]"
    return described


async def _run(ctx: ToolContext, argv: list[str]) -> str:
    """Run a checker, unless a rule forbids it. Returns its output if it fails."""
    line = shlex.join(argv)
    action = Action.of_terminal(line, shell=True, cwd=ctx.session.cwd, **origin(ctx))
    decision = ctx.state.policy.decide(action)
    if decision.effect == "deny" or (decision.effect == "ask" and decision.by != "default"):
        return f"\n[the checker `{line}` was not run: {decision.why}]"
    ctx.state.policy.log_decision(action, Decision(effect="allow", by="default", why="configured as a checker"))
    printed: list[bytes] = []
    size = 0

    def take(output: bytes) -> bool:
        nonlocal size
        printed.append(output)
        size += len(output)
        return size < MAX_OUTPUT_BYTES

    try:
        done = await run_program(
            argv, take, cwd=ctx.session.cwd, env=dict(ctx.state.secrets.environment), seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        return f"\n[the checker `{line}` couldn't be run: {error}]"
    if done.timed_out:
        return f"\n[the checker `{line}` was stopped after {TIMEOUT_SECONDS:g} s]"
    if done.status == 0:
        return ""
    said = plain_output(b"\n".join(printed).decode(errors="replace") + "\n" + done.stderr).strip()
    status = "" if done.status is None else f" (exit {done.status})"
    return f"\n`{line}` reports problems{status}:\n{head_and_tail(said, head=HEAD_CHARS, tail=TAIL_CHARS)}"

"""run_command: a line for a shell, in the client's terminal or in a process of our own, seen while it runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from accord.agent.terminals import Output, Terminal
from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.places import look, missing, relative, who
from accord.coder.tools.text import head_and_tail, one_line, plain_output
from accord.errors import RequestFailed
from accord.model.noun import Noun
from accord.model.tool import ExitStatus
from accord.policy.action import Action
from accord.workspace import command as commands

SECONDS = 120
MOST_SECONDS = 600
PATIENCE = 10.0
"""How long a client may take to say what its terminal printed, and to let it go."""
OUTPUT_BYTES = 1_000_000
"""How much of what a command prints is kept for us: the last of it."""


class RunCommandArgs(Noun):
    """What to run."""

    command: Annotated[str, Meta(min_length=1, description="The line, as it would be typed into a shell (bash).")]
    cwd: Annotated[
        str | None,
        Meta(description="The directory to run it in, inside the project; the working directory if left out."),
    ] = None
    timeout: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description=f"Seconds until it is ended; {SECONDS} if left out, {MOST_SECONDS} at most."),
    ] = None


class RunCommand(Tool[RunCommandArgs]):
    name = "run_command"
    description = (
        "Runs a shell command in the project and waits for its end. Gives the exit status and what was printed "
        "(standard output and error together; of long output the beginning and the end). Each call is a new shell: "
        "directories and variables do not carry over, so give cwd, or join commands with &&. There is no input: use "
        "flags that do not ask. Servers and watchers never end by themselves and are ended after the timeout. To read, "
        "search or edit files use the tools for that: the user sees what they do and is asked less."
    )
    kind = "execute"
    changes = True
    arguments = RunCommandArgs

    def title(self, args: RunCommandArgs) -> str:
        return f"Run {one_line(args.command)}"

    async def prepare(self, args: RunCommandArgs, work: Work) -> None:
        if not args.command.strip():
            raise ToolFault("the command is empty")
        found = await look(work, args.cwd or ".")
        if found.kind == "absent":
            raise await missing(work, args.cwd or ".")
        if found.kind != "directory":
            raise ToolFault(f"cwd is {args.cwd}, which is no directory")
        work.prepared = found.real

    def actions(self, args: RunCommandArgs, work: Work) -> Sequence[Action]:
        return [Action.of_terminal(args.command, shell=True, cwd=work.prepared, **who(work))]

    async def run(self, args: RunCommandArgs, work: Work) -> Outcome:
        if (await look(work, args.cwd or ".")).real != work.prepared:  # the answer may have taken a while
            raise ToolFault(f"{args.cwd or '.'} is not the directory any more that was asked about")
        seconds = min(args.timeout or SECONDS, MOST_SECONDS)
        try:
            # Some clients would take a line for the name of a program, so the shell is named.
            shell, *flags = commands.shell(os.environ)
            terminal = await work.session.terminals.create(
                shell, [*flags, args.command], cwd=work.prepared, output_limit=OUTPUT_BYTES
            )
        except RequestFailed as error:
            raise ToolFault(f"the command could not be started: {error.message}") from None
        ended, printed = await _watched(terminal, seconds, work)
        output = head_and_tail(plain_output(printed.text))
        said = _status(ended, seconds)
        notes = [said]
        if printed.truncated:
            notes.append("the beginning of the output was not kept")
        if args.cwd is not None and relative(work, args.cwd) != ".":
            notes.append(f"in {relative(work, args.cwd)}")
        text = f"[{'; '.join(notes)}]\n{output or '[nothing was printed]'}"
        raw = {
            "exitCode": ended.code if ended else None,
            "signal": ended.signal if ended else None,
            "timedOut": ended is None,
            "output": output,
        }
        return Outcome(text=text, raw=raw, failed=ended is None or ended.signal is not None)


async def _watched(terminal: Terminal, seconds: float, work: Work) -> tuple[ExitStatus | None, Output]:
    """Shows a command and waits for its end, or ends it. A client that stops answering is not waited for."""
    ended: ExitStatus | None = None
    printed: Output | None = None
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds + PATIENCE) as patience, terminal:
            await work.shown.show(terminal)
            try:
                async with asyncio.timeout(seconds):
                    ended = await terminal.wait()
            except TimeoutError:
                await terminal.kill()
            patience.reschedule(loop.time() + PATIENCE)
            printed = await terminal.output()
    except TimeoutError:
        if printed is None:
            raise ToolFault("the terminal does not answer; whether the command still runs is not known") from None
    except RequestFailed as error:
        if printed is None:
            raise ToolFault(f"the terminal failed: {error.message}") from None
    assert printed is not None
    return ended, printed


def _status(ended: ExitStatus | None, seconds: float) -> str:
    if ended is None:
        return f"it had not ended after {seconds:g} s and was ended; this is what it printed until then"
    return f"ended by {ended.signal}" if ended.signal is not None else f"exit {ended.code}"

"""read_output and stop_command: the output and the end of background commands."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from accord.coder.background_commands import BackgroundCommand, describe_end, describe_exit
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.text import head_and_tail, plain_output
from accord.model.record import Record

MAX_WAIT_SECONDS = 600.0
WAIT_SECONDS = 30.0
"""How long to wait for a text by default."""
HEAD_CHARS = 4_000
TAIL_CHARS = 8_000
_ID = Meta(
    description="The id that run_command returned.",
    extra={"aliases": "bash_id shell_id task_id job_id command_id session_id terminal_id"},
)


class ReadOutputArgs(Record):
    """The command, and how long to wait."""

    id: Annotated[str, _ID]
    wait_for: Annotated[
        str | None,
        Meta(
            description="Wait until the new output contains this text (plain, not a pattern), or the command exits.",
            extra={"aliases": "until wait_for_text pattern"},
        ),
    ] = None
    wait_seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(
            description=(
                "The most seconds to wait for the exit, or for wait_for. Default 0, or "
                f"{WAIT_SECONDS:g} with wait_for; at most {MAX_WAIT_SECONDS:g}."
            ),
            extra={"aliases": "timeout timeout_ms wait wait_time"},
        ),
    ] = None


class ReadOutput(Tool[ReadOutputArgs]):
    name = "read_output"
    description = (
        "Returns what a background command has printed since the last read, and whether it still runs. Returns at once "
        "unless wait_seconds or wait_for is set."
    )
    aliases = (
        "bash_output read_command_output command_output get_command_output job_output task_output get_task_output "
        "read_background_output get_terminal_output read_terminal_output"
    )
    kind: str = "read"
    polls = True
    arguments = ReadOutputArgs

    def title(self, args: ReadOutputArgs) -> str:
        return f"Read the output of {args.id}"

    async def run(self, args: ReadOutputArgs, ctx: ToolContext) -> Outcome:
        command = _find(args.id, ctx)
        default = WAIT_SECONDS if args.wait_for else 0.0
        seconds = default if args.wait_seconds is None else min(args.wait_seconds, MAX_WAIT_SECONDS)
        notes = []
        try:
            has_text = await command.wait(seconds, args.wait_for) if seconds or args.wait_for else False
            if args.wait_for and not has_text:
                waited = "" if command.ended.is_set() else f" in {seconds:g} s"
                notes.append(f"the text {args.wait_for!r} didn't appear{waited}")
            return await _report(command, notes, ctx)
        except TimeoutError:
            raise ToolError("the terminal doesn't respond; the command may still be running") from None


class StopCommandArgs(Record):
    """The command."""

    id: Annotated[str, _ID]


class StopCommand(Tool[StopCommandArgs]):
    name = "stop_command"
    description = "Stops a background command with all its processes, and returns the output that wasn't read yet."
    aliases = "kill_shell kill_bash kill_command kill_task job_kill task_stop stop_task stop_background kill_terminal"
    kind: str = "execute"
    arguments = StopCommandArgs

    def title(self, args: StopCommandArgs) -> str:
        return f"Stop {args.id}"

    async def run(self, args: StopCommandArgs, ctx: ToolContext) -> Outcome:
        command = _find(args.id, ctx)
        await command.stop()
        return await _report(command, [], ctx)


def _find(id: str, ctx: ToolContext) -> BackgroundCommand:
    command = ctx.state.background.find(id)
    if command is None:
        ids = ", ".join(ctx.state.background.ids) or "none"
        raise ToolError(
            f"there is no background command {id!r}. There are: {ids}. Commands end with the session; start it again"
        )
    return command


async def _report(command: BackgroundCommand, notes: list[str], ctx: ToolContext) -> Outcome:
    is_over = command.ended.is_set()
    new = plain_output(await command.read())
    command.is_end_known = is_over
    output = head_and_tail(new, head=HEAD_CHARS, tail=TAIL_CHARS)
    notes.insert(0, describe_end(command))
    if output is not new and (path := await ctx.state.save_output(new)) is not None:
        notes.append(f"all of this output is in {path}")
    raw = {**describe_exit(command.status, ""), "running": not is_over, "output": output}
    return Outcome(text=f"[{'; '.join(notes)}]\n{output or '[nothing new was printed]'}", raw=raw)

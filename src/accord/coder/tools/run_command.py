"""run_command: run a shell command in the client's terminal or our own, with live output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from accord.agent.workspace import Output, Terminal
from accord.coder import modes
from accord.coder.background_commands import MAX_RUNNING, BackgroundCommand, describe_end, describe_exit
from accord.coder.sandbox import SandboxedCommand, explain_failure
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import from_cwd, locate, missing, origin, relative
from accord.coder.tools.text import drop_key_end, head_and_tail, one_line, plain_output
from accord.errors import AccordError, RequestFailed
from accord.model.record import Record
from accord.model.requests import PermissionOption
from accord.model.tool import ExitStatus
from accord.policy.action import Action
from accord.workspace import command as commands

if TYPE_CHECKING:
    from accord.agent.tool import Tool as ToolCallHandle
    from accord.coder.session import CoderSession

DEFAULT_SECONDS = 120
MAX_SECONDS = 600
TERMINAL_SECONDS = 10.0
"""How long a client may take to return a terminal's output and release it."""
FIRST_OUTPUT_SECONDS = 2.0
"""How long to wait for the first output of a background command."""
OUTPUT_BYTES = 8_000_000
"""How much output the terminal keeps: the end of it."""
NO_SANDBOX = "Commands can't run in a sandbox. You are asked instead"
MAX_NAMED = 10
"""How many protected files are named."""
HEAD_CHARS = 4_000
TAIL_CHARS = 8_000
"""How much of longer output the model gets; all of it is saved in a file."""
ENVIRONMENT = {
    **dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "AWS_PAGER", "SYSTEMD_PAGER"), "cat"),
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR"), "true"),
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "NO_COLOR": "1",
}
"""Variables for commands: without a terminal, a pager, a prompt or an editor would wait forever.

`CI` isn't among them, because package managers then refuse to update their lock files."""


class RunCommandArgs(Record):
    """The command and where to run it."""

    command: Annotated[str, Meta(min_length=1, description="The command line, as typed into a shell (bash).")]
    cwd: Annotated[
        str | None,
        Meta(description="The directory to run it in, inside the project; defaults to the working directory."),
    ] = None
    timeout: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description=f"Seconds until it is killed; default {DEFAULT_SECONDS}, at most {MAX_SECONDS}."),
    ] = None
    background: Annotated[
        bool,
        Meta(
            description="Return at once, with an id for read_output and stop_command. No timeout.",
            extra={"aliases": "run_in_background is_background in_background background_run detach"},
        ),
    ] = False
    outside_sandbox: Annotated[
        bool,
        Meta(description="Run it without the sandbox. The user is asked. Only after it failed because of the sandbox."),
    ] = False
    reason: Annotated[
        str | None,
        Meta(description="Why it must run outside the sandbox, for the user.", extra={"aliases": "justification"}),
    ] = None
    on_timeout: Annotated[
        Literal["kill", "background"],
        Meta(description="Whether the timeout kills it (default), or lets it continue in the background."),
    ] = "kill"


class RunCommand(Tool[RunCommandArgs]):
    name = "run_command"
    description = (
        "Runs a shell command in the project and waits until it exits. Returns the exit status and the output (stdout "
        "and stderr together). Of long output you get the start and the end, and the path of a file with all of it, "
        "for read_file and search. Each call is a new shell: set cwd, or join commands with &&. There is no standard "
        "input: use non-interactive flags. Start servers and watchers with background=true; they run until stopped or "
        "until the session ends. To read, search or edit files use the tools for that: the user sees what they do and "
        "is asked less often."
    )
    kind: str = "execute"
    changes = True
    records_changes = False
    arguments = RunCommandArgs
    aliases = (
        "bash shell sh exec local_shell exec_command execute_command run_shell_command run_terminal_cmd terminal "
        "execute run"
    )

    def title(self, args: RunCommandArgs) -> str:
        reason = f": {one_line(args.reason)}" if args.reason and args.reason.strip() else ""
        return f"Run {one_line(args.command)}{f' (outside the sandbox{reason})' if args.outside_sandbox else ''}"

    async def confine(
        self, args: RunCommandArgs, ctx: ToolContext, *, is_optional: bool = True
    ) -> SandboxedCommand | None:
        settings = ctx.state.settings.sandbox_entry
        if (args.outside_sandbox and is_optional) or not modes.uses_sandbox(ctx.state.mode, settings.mode):
            return None
        sandbox = ctx.state.sandbox
        found = await sandbox.find_problem(settings) or await sandbox.prepare(args.command, ctx.prepared, settings)
        if isinstance(found, str):
            if settings.mode == "on":
                await ctx.state.notices.warn_once(NO_SANDBOX, found)
            return None
        return found

    async def prepare(self, args: RunCommandArgs, ctx: ToolContext) -> None:
        if not args.command.strip():
            raise ToolError("the command is empty")
        found = await locate(ctx, args.cwd or ".")
        if found.kind == "absent":
            raise await missing(ctx, args.cwd or ".")
        if found.kind != "directory":
            raise ToolError(f"cwd is {args.cwd}, which is not a directory")
        ctx.prepared = found.real

    def actions(self, args: RunCommandArgs, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_terminal(args.command, shell=True, cwd=ctx.prepared, **origin(ctx))]

    async def run(self, args: RunCommandArgs, ctx: ToolContext) -> Outcome:
        await locate(ctx, args.cwd or ".")  # a client's terminal opens the path again; ours is pinned by `at`
        if (args.background or args.on_timeout == "background") and ctx.state.background.is_full:
            raise ToolError(f"{MAX_RUNNING} background commands are running, the maximum; stop one with stop_command")
        if ctx.sandboxed is None:
            # Outside the sandbox, it would obey a protected file that a command inside has created since the last step.
            await ctx.state.background.inspect()
            return await self._run(args, ctx)
        await ctx.call.update(title=f"{self.title(args)} (in the sandbox)")
        try:
            return await self._run(args, ctx)
        except BaseException:
            # Cancelled, for example. Protected files that the command has created must still be found.
            await asyncio.shield(_remove_protected(ctx.sandboxed, ctx.state, ctx.call, asks=False))
            raise

    async def _run(self, args: RunCommandArgs, ctx: ToolContext) -> Outcome:
        terminal = await self._start(args, ctx)
        if args.background:
            return await _move_to_background(terminal, args, ctx)
        seconds = min(args.timeout or DEFAULT_SECONDS, MAX_SECONDS)
        ended, printed = await _watch(terminal, seconds, ctx, releases=args.on_timeout == "kill")
        if printed is None:
            return await _move_to_background(terminal, args, ctx, after_seconds=seconds)
        whole = plain_output(printed.text)
        whole = drop_key_end(whole) if printed.truncated else whole
        output = head_and_tail(whole, head=HEAD_CHARS, tail=TAIL_CHARS)
        notes = [_status(ended, seconds)]
        if ctx.sandboxed is not None:
            if ended is None or ended.code != 0:
                notes.append(explain_failure(whole))
            notes += await _remove_protected(ctx.sandboxed, ctx.state, ctx.call)
        if args.timeout is not None and args.timeout > MAX_SECONDS:
            notes.append(f"the timeout was reduced to {MAX_SECONDS} s, the maximum")
        if printed.truncated:
            notes.append("the start of the output was discarded")
        if args.cwd is not None and relative(ctx, args.cwd) != ".":
            notes.append(f"in {relative(ctx, args.cwd)}")
        if output is not whole and (path := await ctx.state.save_output(whole)) is not None:
            notes.append(f"all of {'the rest' if printed.truncated else 'the output'} is in {path}")
        text = f"[{'; '.join(notes)}]\n{output or '[nothing was printed]'}"
        raw = {
            "exitCode": ended.code if ended else None,
            "signal": ended.signal if ended else None,
            "timedOut": ended is None,
            "output": output,
        }
        if ctx.sandboxed is not None:
            raw["sandboxed"] = True
        return Outcome(text=text, raw=raw, failed=ended is None or ended.signal is not None)

    async def _start(self, args: RunCommandArgs, ctx: ToolContext) -> Terminal:
        # Some clients take a command line for a program's name, so pass the shell explicitly.
        program, *words = (
            ctx.sandboxed.argv if ctx.sandboxed is not None else [*commands.shell_command(os.environ), args.command]
        )
        here = ctx.sandboxed is not None
        blanks = ctx.state.secrets.blanks if ctx.session.client.offers.terminals and not here else {}
        try:
            return await ctx.session.terminals.create(
                program,
                words,
                cwd=ctx.prepared,
                at=ctx.prepared,
                env={**ENVIRONMENT, **blanks},
                output_limit=OUTPUT_BYTES,
                here=here,
            )
        except RequestFailed as error:
            raise ToolError(f"couldn't start the command: {error.explanation}") from None


async def _move_to_background(
    terminal: Terminal, args: RunCommandArgs, ctx: ToolContext, *, after_seconds: float | None = None
) -> Outcome:
    """Let a command continue, and return its first output."""
    if after_seconds is None:
        await ctx.call.show(terminal)
    await ctx.call.move_to_background(can_cancel=True)
    sandboxed, state, call = ctx.sandboxed, ctx.state, ctx.call

    async def inspect(command: BackgroundCommand) -> None:
        if sandboxed is not None and (
            notes := await _remove_protected(sandboxed, state, call, asks=not command.is_closed)
        ):
            state.background.notes += notes

    command = ctx.state.background.add(args.command, terminal, ctx.call, inspect, sandboxed is not None)
    try:
        if after_seconds is None:
            await command.wait_for_output(FIRST_OUTPUT_SECONDS)
        new = plain_output(await command.read())
    except TimeoutError:
        new = ""
    except asyncio.CancelledError:
        await command.close()
        raise
    command.is_end_known = command.ended.is_set()
    output = head_and_tail(new, head=HEAD_CHARS, tail=TAIL_CHARS)
    notes = [describe_end(command)]
    if not command.is_end_known:
        notes = [f"still running after {after_seconds:g} s"] if after_seconds is not None else ["running"]
        notes.append(f"in the background as {command.id}: use read_output and stop_command")
    nothing = "[nothing was printed]" if command.is_end_known else "[nothing was printed yet]"
    text = f"[{', '.join(notes)}]\n{output or nothing}"
    raw = {**describe_exit(command.status, ""), "running": not command.is_end_known, "output": output}
    return Outcome(text=text, raw={**raw, "id": command.id}, is_in_background=True)


async def _remove_protected(
    sandboxed: SandboxedCommand, state: CoderSession, call: ToolCallHandle, *, asks: bool = True
) -> list[str]:
    """Rename the protected files that a sandboxed command has created, unless the user wants them.

    Returns notes for the model."""
    sandbox = state.sandbox
    found = await sandbox.find_new(sandboxed)
    denied = [path for path in found if sandbox.is_denied(path)]
    allowed = [path for path in found if path not in denied]
    if asks and allowed and await _wants_to_keep(_list(allowed, state), call):
        await sandbox.accept(allowed)
        found = denied
    if not found:
        return []
    left = await sandbox.disarm(sandboxed, found)
    renamed = [path for path in found if path not in left]
    notes = []
    with suppress(AccordError):
        if left:
            names = _list(left, state)
            notes.append(f"protected files can't be created in the sandbox, but these couldn't be renamed: {names}")
            title = "A sandboxed command created protected files that couldn't be renamed; remove them"
            await state.notices.show(title, names, severity="error")
        if renamed:
            names = _list(renamed, state)
            notes.append(
                f"protected files can't be created in the sandbox, so these were renamed to removed-…: {names}"
            )
            title = "Renamed protected files that a sandboxed command created"
            await state.notices.show(title, names, severity="warning")
    return notes


async def _wants_to_keep(names: str, call: ToolCallHandle) -> bool:
    with suppress(RequestFailed):
        options = [
            PermissionOption(id="allow_once", name="Keep them", kind="allow_once"),
            PermissionOption(id="reject_once", name="Rename them", kind="reject_once"),
        ]
        return bool(await call.permit(f"Keep protected files that the command created: {names}", options=options))
    return False


def _list(paths: Sequence[str], state: CoderSession) -> str:
    names = [one_line(from_cwd(state.session, path)) for path in paths[:MAX_NAMED]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


async def _watch(
    terminal: Terminal, seconds: float, ctx: ToolContext, *, releases: bool
) -> tuple[ExitStatus | None, Output | None]:
    """Show a command and wait until it exits. When the time is over, kill it, or (without `releases`) return no output.

    Gives up on a client that stops answering."""
    ended: ExitStatus | None = None
    printed: Output | None = None
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds + TERMINAL_SECONDS) as limit, AsyncExitStack() as stack:
            await stack.enter_async_context(terminal)
            await ctx.call.show(terminal)
            try:
                async with asyncio.timeout(seconds):
                    ended = await terminal.wait()
            except TimeoutError:
                if not releases:
                    stack.pop_all()
                    return None, None
                await terminal.kill()
            limit.reschedule(loop.time() + TERMINAL_SECONDS)
            printed = await terminal.output()
    except TimeoutError:
        if printed is None:
            raise ToolError("the terminal doesn't respond; the command may still be running") from None
    except RequestFailed as error:
        if printed is None:
            raise ToolError(f"the terminal failed: {error.explanation}") from None
    assert printed is not None
    return ended, printed


def _status(ended: ExitStatus | None, seconds: float) -> str:
    if ended is None:
        return f"timed out after {seconds:g} s and was killed; the output so far follows"
    return f"ended by {ended.signal}" if ended.signal is not None else f"exit {ended.code}"

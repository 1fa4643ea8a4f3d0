"""Commands that outlive the call that started them, such as servers and watchers.

A command runs until it exits, is stopped, or its session ends. Its tool call stays open meanwhile: the client shows its
terminal, and gets the final state. The model reads its output with tools, and is reminded when it has ended."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from accord.agent.workspace import Output, Terminal
from accord.coder.tools.text import count_key_start, cut_start, one_line, plain_output
from accord.errors import AccordError, ConnectionClosed, RequestFailed
from accord.model.tool import ExitStatus, ToolStatus

if TYPE_CHECKING:
    from accord.agent.tool import Tool as ToolCallHandle

MAX_RUNNING = 8
MAX_ENDED = 32
"""How many ended commands keep their output."""
POLL_SECONDS = 0.2
"""How often to look for new output while waiting for it: clients don't report it."""
TERMINAL_SECONDS = 10.0
"""How long a client may take to return a terminal's output, and to kill or release it."""
OVERLAP_CHARS = 2_000
"""How much of the output that was read is remembered, to find the place once the start has been discarded."""
MAX_LINE = 80

Inspect = Callable[["BackgroundCommand"], Awaitable[None]]
"""Inspects the effects of a command: at intervals while it runs, and after it has ended."""


class BackgroundCommand:
    """One command: its terminal, its tool call, and how much of its output the model has read."""

    def __init__(
        self,
        id: str,
        line: str,
        terminal: Terminal,
        call: ToolCallHandle,
        inspect: Inspect | None = None,
        is_sandboxed: bool = False,
    ) -> None:
        self.id = id
        self.line = line
        self.is_sandboxed = is_sandboxed
        self.status: ExitStatus | None = None
        """The exit status; None while it runs, and if it is unknown."""
        self.problem: str = ""
        """Why the status is unknown, if the terminal failed."""
        self.is_stopped: bool = False
        """Whether it was stopped on request."""
        self.is_closed: bool = False
        """Whether its session has ended: there is no user to ask any more."""
        self.is_end_known = False
        """Whether the model knows that it has ended."""
        self.ended: asyncio.Event = asyncio.Event()
        self._terminal = terminal
        self._call = call
        self._inspect = inspect
        self._final: Output | None = None
        self._read = ""
        """The end of the output that was read."""
        self._read_chars = 0
        self._inspecting = asyncio.Lock()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    @property
    def call_id(self) -> str:
        """The id of its tool call."""
        return self._call.id

    async def peek(self) -> str:
        """Return the output since the last `read`."""
        return self._find_new(await self._output())

    async def read(self) -> str:
        """Return the output since the last `read`, and count it as read."""
        output = await self._output()
        new = self._find_new(output)
        # A key that is only printed in part is read once it is whole, because redaction doesn't recognize parts.
        held = 0 if self.ended.is_set() else min(count_key_start(new), len(new))
        self._read_chars = len(output.text) - held
        self._read = output.text[: self._read_chars][-OVERLAP_CHARS:]
        return new[: len(new) - held]

    async def wait(self, seconds: float, text: str | None) -> bool:
        """Wait until it has ended or its unread output contains a text. Return whether the text was found."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while True:
            is_over = self.ended.is_set()
            if text is not None and text in await self.peek():
                return True
            left = deadline - loop.time()
            if is_over or left <= 0:
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), left if text is None else min(left, POLL_SECONDS))

    async def wait_for_output(self, seconds: float) -> None:
        """Wait for its first output and a moment longer, or until it has ended."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.ended.is_set() and asyncio.get_running_loop().time() < deadline:
            has_output = bool(await self.peek())
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), POLL_SECONDS)
            if has_output:
                return

    async def stop(self) -> None:
        """End it and all its descendants. Idempotent."""
        if self.ended.is_set():
            return
        self.is_stopped = True
        with suppress(RequestFailed, TimeoutError):
            await asyncio.wait_for(self._terminal.kill(), TERMINAL_SECONDS)
            await asyncio.wait_for(self.ended.wait(), TERMINAL_SECONDS)
        if not self.ended.is_set():
            await self._finish_watching()
            await self._end("the terminal doesn't respond; the command may still be running")

    async def close(self) -> None:
        """End it without waiting for the client."""
        self.is_closed = True
        await self._finish_watching()
        if not self.ended.is_set():
            self.is_stopped = True
            with suppress(AccordError, TimeoutError):
                await asyncio.wait_for(self._terminal.release(), TERMINAL_SECONDS)
            self.ended.set()
            with suppress(AccordError):
                await self._call.update(status="cancelled")
        await self._report_end()

    async def _finish_watching(self) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)

    async def _output(self) -> Output:
        if self._final is not None:
            return self._final
        async with asyncio.timeout(TERMINAL_SECONDS):
            return await self._terminal.output()

    def _find_new(self, output: Output) -> str:
        if not output.truncated:
            return output.text[self._read_chars :]
        at = output.text.rfind(self._read) if self._read else -1
        return output.text[at + len(self._read) :] if at >= 0 else output.text

    async def _watch(self) -> None:
        try:
            self.status = await self._terminal.wait()
            problem = ""
        except ConnectionClosed:
            return
        except AccordError as error:
            problem = f"the terminal failed: {error}"
        await self._end(problem)

    async def _end(self, problem: str) -> None:
        """Save the output, release the terminal and report the end. Nothing runs any more."""
        self.problem = problem
        try:
            async with asyncio.timeout(TERMINAL_SECONDS):
                self._final = await self._terminal.output()
                await self._terminal.release()
        except (AccordError, TimeoutError):
            self._final = self._final or Output(text="")
        self.ended.set()
        with suppress(AccordError):
            status: ToolStatus = (
                "cancelled" if self.is_stopped else "completed" if self.status is not None else "failed"
            )
            if self.status is not None and self.status.signal is not None and not self.is_stopped:
                status = "failed"
            await self._call.update(status=status, raw_output=describe_exit(self.status, self._final.text))
        await self._report_end()

    async def inspect(self) -> None:
        """Inspect its effects so far."""
        async with self._inspecting:
            if self._inspect is not None:
                with suppress(AccordError):
                    await self._inspect(self)

    async def _report_end(self) -> None:
        """Inspect it for the last time. If that is cancelled or fails, `close` does it again."""
        async with self._inspecting:
            if self._inspect is not None:
                with suppress(AccordError):
                    await self._inspect(self)
                    self._inspect = None


def describe_exit(status: ExitStatus | None, output: str) -> dict[str, object]:
    """Describe the result of a command for clients and the offline model."""
    return {
        "exitCode": status.code if status else None,
        "signal": status.signal if status else None,
        "timedOut": False,
        "output": cut_start(plain_output(output), OVERLAP_CHARS),
    }


class BackgroundCommands:
    """The background commands of one session."""

    def __init__(self) -> None:
        self._commands: dict[str, BackgroundCommand] = {}
        self.notes: list[str] = []
        """Notes for the next reminder."""

    @property
    def running(self) -> list[BackgroundCommand]:
        """The commands that haven't ended."""
        return [each for each in self._commands.values() if not each.ended.is_set()]

    @property
    def is_full(self) -> bool:
        """Whether no more commands may be started."""
        return len(self.running) >= MAX_RUNNING

    def add(
        self,
        line: str,
        terminal: Terminal,
        call: ToolCallHandle,
        inspect: Inspect | None = None,
        is_sandboxed: bool = False,
    ) -> BackgroundCommand:
        """Take over a running command."""
        while (id := f"cmd-{secrets.token_hex(2)}") in self._commands:
            pass
        command = self._commands[id] = BackgroundCommand(id, line, terminal, call, inspect, is_sandboxed)
        ended = [each.id for each in self._commands.values() if each.ended.is_set()]
        for old in ended[:-MAX_ENDED]:
            del self._commands[old]
        return command

    def find(self, id: str) -> BackgroundCommand | None:
        """Find a command by id."""
        return self._commands.get(id.strip())

    @property
    def ids(self) -> list[str]:
        """The ids of all commands that can be read."""
        return list(self._commands)

    async def inspect(self) -> None:
        """Inspect the effects of the running commands so far."""
        for each in self.running:
            await each.inspect()

    def take_ended(self) -> str:
        """Describe the commands that have ended without the model's knowledge; empty if there are none."""
        lines = []
        for each in self._commands.values():
            if each.ended.is_set() and not each.is_end_known:
                each.is_end_known = True
                lines.append(f"- {each.id} (`{one_line(each.line, MAX_LINE)}`): {describe_end(each)}")
        notes, self.notes = self.notes, []
        if lines:
            lines = ["Background commands have ended:", *lines, "Read the rest of their output with read_output."]
        return "\n".join([*lines, *notes])

    async def cancel_call(self, call_id: str) -> bool:
        """Stop the command of a tool call; return whether there is one."""
        for each in self.running:
            if each.call_id == call_id:
                await each.stop()
                return True
        return False

    async def close(self) -> None:
        """Stop all commands."""
        await asyncio.gather(*(each.close() for each in self._commands.values()), return_exceptions=True)
        self._commands.clear()


def describe_end(command: BackgroundCommand) -> str:
    """Describe how a command ended, or that it runs."""
    if not command.ended.is_set():
        return "running"
    if command.problem:
        return command.problem
    if command.is_stopped:
        return "stopped"
    status = command.status
    if status is None:
        return "ended"
    return f"ended by {status.signal}" if status.signal is not None else f"exit {status.code}"

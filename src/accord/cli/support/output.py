"""Print the events of `accord run`: as text and progress lines, or as JSON."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import msgspec

from accord.cli.support import output_events
from accord.terminal_text import escape, escape_line
from accord.transcript.events import Event

_encode = msgspec.json.Encoder().encode
MARKS = {"pending": "…", "in_progress": "▸", "completed": "✓", "failed": "✗", "cancelled": "–"}


def describe_decision(decision: str, title: str, why: str) -> str:
    """Say what was decided about an action and why, without repeating the file or command that the title names."""
    reason, _, subject = why.removesuffix(")").rpartition(" (")
    if reason and why.endswith(")") and (subject in title or os.path.basename(subject) in title):
        why = reason
    return f"{decision}: {title}{f' ({why})' if why else ''}"


def describe_notice(severity: str, title: str, description: str | None) -> str:
    """Put a notice on one line: its description is the next sentence, or the rest of the first one."""
    between = ". " if description and description[0].isupper() and title[-1:].isalnum() else ": "
    return f"{severity}: {title}{between}{description}" if description else f"{severity}: {title}"


class Output:
    """Prints lines. Calls `on_broken` once if the reader has closed its end."""

    def __init__(self, on_broken: Callable[[], None] | None = None) -> None:
        self.is_broken: bool = False
        self.on_broken = on_broken

    def event(self, event: Event) -> None:
        line = output_events.to_line(event)
        if line is not None:
            self.line(line)

    def line(self, line: output_events.Line) -> None:
        if self.is_broken:
            return
        try:
            self.put(line)
        except BrokenPipeError:
            self.break_off()

    def break_off(self) -> None:
        """Stop printing, because the output is closed."""
        self.is_broken = True
        if self.on_broken is not None:
            self.on_broken()

    def put(self, line: output_events.Line) -> None:
        raise NotImplementedError

    def log(self, text: str) -> None:
        """Print a line that the agent wrote to its log."""

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the terminal to a question."""
        yield

    def stop(self) -> None:
        """End the lines that are rewritten in place, because the run is over."""


class TextOutput(Output):
    """Prints the agent's text as it streams, and tool calls, plans and notices as lines on standard error."""

    def __init__(
        self,
        *,
        progress: bool,
        out: IO[str] | None = None,
        err: IO[str] | None = None,
        on_broken: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(on_broken)
        self._progress = progress
        self._out = lenient(out or sys.stdout)
        self._err = lenient(err or sys.stderr)
        self._is_terminal = self._out.isatty()
        self._in_text = False
        self._shown: dict[str, tuple[str, str]] = {}
        self._said: dict[str, list[str]] = {}
        self._last: str | None = None

    def put(self, line: output_events.Line) -> None:
        match line:
            case output_events.Text(text=text, message_id=id):
                self._say(text, id)
            case output_events.Message(role="agent", message_id=id, text=text):
                self._say_whole(text, id)
            case output_events.ToolCall(id=id, title=title, status=status):
                if self._shown.get(id) != (status, title):
                    self._shown[id] = (status, title)
                    self._print_notice(f"{MARKS.get(status, '?')} {title}{'' if status in MARKS else f' ({status})'}")
            case output_events.Plan(steps=steps):
                done = sum(step.status == "completed" for step in steps)
                now = next((step.content for step in steps if step.status == "in_progress"), None)
                self._print_notice(f"plan: {done} of {len(steps)} done{f', now: {now}' if now else ''}")
            case output_events.Notice(severity=severity, title=title, description=description):
                self._print_notice(describe_notice(severity, title, description), always=severity != "info")
            case output_events.Disconnected():
                self._print_notice("Connection lost. Reconnecting…", always=True)
            case output_events.Resumed(seconds=seconds):
                self._print_notice(f"Reconnected after {seconds:.1f} s.", always=True)
            case output_events.Permission(title=title, decision=decision, why=why, allow=allow):
                self._print_notice(describe_decision(decision, title, why), always=decision != "allowed")
                if allow:
                    self._print_notice(
                        f"To allow it: {' '.join(f'--allow {shlex.quote(rule)}' for rule in allow)}", always=True
                    )
            case output_events.Session(session_id=id, agent=agent):
                self._print_notice(f"{agent}, session {id}")
            case output_events.Media(content=content):
                kind = content.get("type", "something") if isinstance(content, dict) else "something"
                self._print_notice(f"(the agent sent {kind}; use --json to get it)", always=True)
            case output_events.Ended(stop_reason=reason, error=error, silent=silent):
                self._finish()
                if error:
                    for words in error.split("\n"):
                        self._print_notice(f"accord: {words}", always=True)
                elif silent:
                    self._print_notice("The agent ended its turn without any output.", always=True)
                elif reason not in ("end_turn", None):
                    self._print_notice(f"The agent stopped: {reason}", always=True)
            case _:
                return

    def log(self, text: str) -> None:
        if self._in_text and self._is_terminal:
            self._finish()
        print(f"agent: {escape(text)}", file=self._err, flush=True)

    def _say(self, text: str, id: str | None) -> None:
        if id is not None:
            if self._last is not None and id != self._last:
                self._finish()  # another message starts on a new line
            self._last = id
            self._said.setdefault(id, []).append(text)
        self._out.write(escape(text) if self._is_terminal else text)
        self._out.flush()
        if text:
            self._in_text = not text.endswith("\n")

    def _say_whole(self, text: str, id: str) -> None:
        """Print what is new in a message; print it again if it differs from what was streamed."""
        said = "".join(self._said.get(id, []))
        if text.startswith(said):
            self._say(text[len(said) :], id)
        elif text:
            self._finish()
            self._said[id] = []
            self._say(text, id)

    def _print_notice(self, text: str, *, always: bool = False) -> None:
        if self._progress or always:
            if self._in_text and self._is_terminal:
                self._finish()
            print(escape_line(text, 2000), file=self._err, flush=True)

    def _finish(self) -> None:
        if self._in_text:
            self._out.write("\n")
            self._out.flush()
            self._in_text = False


class JsonOutput(Output):
    """Prints one JSON object per line."""

    def __init__(self, out: IO[bytes] | None = None, on_broken: Callable[[], None] | None = None) -> None:
        super().__init__(on_broken)
        self._out = out or sys.stdout.buffer

    def put(self, line: output_events.Line) -> None:
        self._out.write(_encode(line) + b"\n")
        self._out.flush()


def lenient(stream: Any) -> Any:
    """Make a stream replace characters that its encoding can't represent, instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    return stream

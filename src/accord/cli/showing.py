"""What a headless run shows: the agent's text on standard output, what it does on standard error."""

from __future__ import annotations

import sys
from typing import IO

import msgspec

from accord.cli import events
from accord.transcript.events import Event

_encode = msgspec.json.Encoder().encode
_MARKS = {"pending": "…", "in_progress": "▸", "completed": "✓", "failed": "✗", "cancelled": "–"}


class Plain:
    """Text as it streams; tool calls, plans and notices as lines for people, when people are there to read them."""

    def __init__(self, *, progress: bool, out: IO[str] | None = None, err: IO[str] | None = None) -> None:
        self._progress = progress
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._in_text = False
        self._shown: dict[str, str] = {}

    def event(self, event: Event) -> None:
        line = events.line_of(event)
        if line is not None:
            self.line(line)

    def line(self, line: events.Line) -> None:
        match line:
            case events.Text(text=text):
                self._out.write(text)
                self._out.flush()
                self._in_text = not text.endswith("\n")
            case events.ToolCall(id=id, title=title, status=status):
                if self._shown.get(id) != status:
                    self._shown[id] = status
                    self._tell(f"{_MARKS.get(status, '?')} {title}{'' if status in _MARKS else f' ({status})'}")
            case events.Plan(steps=steps):
                done = sum(step.status == "completed" for step in steps)
                now = next((step.content for step in steps if step.status == "in_progress"), None)
                self._tell(f"plan: {done} of {len(steps)} done{f', now: {now}' if now else ''}")
            case events.Notice(severity=severity, title=title, description=description):
                self._tell(f"{severity}: {title}{f': {description}' if description else ''}", always=severity != "info")
            case events.Permission(title=title, decision=decision, why=why):
                self._tell(f"{decision}: {title}{f' ({why})' if why else ''}", always=decision != "allowed")
            case events.Ended(stop_reason=reason, error=error):
                self._finish()
                if error:
                    self._tell(f"accord: {error}", always=True)
                elif reason not in ("end_turn", None):
                    self._tell(f"the agent stopped: {reason}", always=True)
            case _:
                return

    def _tell(self, text: str, *, always: bool = False) -> None:
        if self._progress or always:
            if self._in_text and self._out.isatty():
                self._finish()
            print(text, file=self._err, flush=True)

    def _finish(self) -> None:
        if self._in_text:
            self._out.write("\n")
            self._out.flush()
            self._in_text = False


class Json:
    """One object per line, for programs."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out or sys.stdout

    def event(self, event: Event) -> None:
        line = events.line_of(event)
        if line is not None:
            self.line(line)

    def line(self, line: events.Line) -> None:
        self._out.write(_encode(line).decode() + "\n")
        self._out.flush()

"""Output of `accord run` for people: rendered Markdown, one line per tool call, colored diffs."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from accord.cli.support import output_events
from accord.cli.support.live_region import LiveRegion, measure
from accord.cli.support.markdown import MarkdownStream, is_available
from accord.cli.support.output import MARKS, Output, describe_decision, describe_notice, lenient
from accord.terminal_text import escape, escape_line, format_duration

FRAME_SECONDS = 0.05
"""The answer is rendered again at most this often."""
TICK_SECONDS = 1.0
MAX_DIFF_LINES = 40
MAX_OUTPUT_LINES = 5
_FINISHED = {"completed", "failed", "cancelled"}
_COLORS = {"completed": "green", "failed": "red", "cancelled": "dim"}


def fits_terminal() -> bool:
    """Return whether standard output and standard error are a terminal with cursor control."""
    streams = (sys.stdout, sys.stderr)
    return os.environ.get("TERM", "dumb") != "dumb" and all(each is not None and each.isatty() for each in streams)


class TerminalOutput(Output):
    """Prints the answer as rendered Markdown. Tool calls in progress are rewritten in place below it."""

    def __init__(
        self, *, quiet: bool = False, out: IO[str] | None = None, on_broken: Callable[[], None] | None = None
    ) -> None:
        super().__init__(on_broken)
        color = not os.environ.get("NO_COLOR")
        self._region = LiveRegion(lenient(out or sys.stdout), color=color)
        self._quiet = quiet
        self._color = color
        self._has_markdown = is_available()
        self._stream: MarkdownStream | None = None
        self._has_lines = False
        """Whether lines that aren't part of the answer come directly before it."""
        self._plain = ""
        """The line of the answer that isn't complete yet, if there is no Markdown renderer."""
        self._said: dict[str, str] = {}
        self._last: str | None = None
        self._open: dict[str, output_events.ToolCall] = {}
        self._closed: set[str] = set()
        self._refused: set[str] = set()
        """The titles of refused actions, whose refusal has been printed."""
        self._terminals: dict[str, deque[str]] = {}
        self._activity = ""
        self._since = 0.0
        self._frame: asyncio.TimerHandle | None = None
        self._tick: asyncio.TimerHandle | None = None

    def put(self, line: output_events.Line) -> None:
        match line:
            case output_events.Prompt():
                self._start()
            case output_events.Text(text=text, message_id=id):
                self._say(text, id)
            case output_events.Message(role="agent", message_id=id, text=text):
                self._say_whole(text, id)
            case output_events.Thought():
                self._activity = "Thinking"
            case output_events.ToolCall():
                self._show_call(line)
            case output_events.Terminal(id=id, text=text):
                self._collect(id, text)
            case output_events.Plan(steps=steps):
                done = sum(step.status == "completed" for step in steps)
                now = next((step.content for step in steps if step.status == "in_progress"), None)
                self._print_notice(f"Plan: {done} of {len(steps)} done{f', now: {now}' if now else ''}", "cyan")
            case output_events.Notice(severity=severity, title=title, description=description):
                color = {"error": "red", "warning": "yellow"}.get(severity, "dim")
                text = describe_notice(severity, title, description)
                self._print_notice(text, color, always=severity != "info")
            case output_events.Disconnected():
                self._print_notice("Connection lost. Reconnecting…", "yellow", always=True)
            case output_events.Resumed(seconds=seconds):
                self._print_notice(f"Reconnected after {seconds:.1f} s.", "green", always=True)
            case output_events.Permission(title=title, decision=decision, why=why, allow=allow):
                if decision != "allowed":
                    self._refused.add(title)
                    self._print_notice(describe_decision(decision, title, why), "yellow", always=True)
                if allow:
                    flags = " ".join(f"--allow {shlex.quote(rule)}" for rule in allow)
                    self._print_notice(f"To allow it: {flags}", always=True)
            case output_events.Session(session_id=id, agent=agent):
                self._print_notice(f"{agent}, session {id}", "dim")
            case output_events.Media(content=content):
                kind = content.get("type", "something") if isinstance(content, dict) else "something"
                self._print_notice(f"(the agent sent {kind}; use --json to get it)", "dim", always=True)
            case output_events.Ended():
                self._end(line)
            case _:
                return

    def log(self, text: str) -> None:
        self._finish_text()
        self._draw([self._region.paint(f"agent: {escape(text)}", "dim")])

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the terminal to a question."""
        self._finish_text()
        self._region.is_held = True
        self._region.draw([])
        try:
            yield
        finally:
            self._region.is_held = False
            self._draw()

    def stop(self) -> None:
        self._activity = ""
        for timer in (self._frame, self._tick):
            if timer is not None:
                timer.cancel()
        self._finish_text()
        self._region.draw([])

    # -- the answer

    def _say(self, text: str, id: str | None) -> None:
        if id is not None:
            if self._last is not None and id != self._last:
                self._finish_text()
            self._last = id
            self._said[id] = self._said.get(id, "") + text
        self._activity = "Writing"
        safe = escape(text)
        if not self._has_markdown:
            self._plain += safe
        else:
            if self._stream is None:
                self._stream = MarkdownStream(color=self._color, has_lines_above=self._has_lines)
            self._stream.feed(safe)
        if self._frame is None:
            self._frame = asyncio.get_running_loop().call_later(FRAME_SECONDS, self._next_frame)

    def _say_whole(self, text: str, id: str) -> None:
        """Print what is new in a message; print it again if it differs from what was streamed."""
        said = self._said.get(id, "")
        if text.startswith(said):
            self._say(text[len(said) :], id)
        elif text:
            self._finish_text()
            self._said[id] = ""
            self._say(text, id)

    def _next_frame(self) -> None:
        self._frame = None
        if not self._region.is_held:
            self._guard(lambda: self._draw(self._take()))

    def _take(self, *, everything: bool = False) -> list[str]:
        """Return the lines of the answer that are complete."""
        if self._stream is not None:
            return self._stream.take(self._region.size[0], everything=everything)
        *complete, self._plain = self._plain.split("\n")
        if everything and self._plain:
            complete, self._plain = [*complete, self._plain], ""
        return complete

    def _finish_text(self) -> None:
        lines = self._take(everything=True)
        self._stream = None
        if lines:
            self._draw(lines)

    # -- tool calls

    def _show_call(self, call: output_events.ToolCall) -> None:
        if call.id in self._closed or self._quiet:
            return
        self._activity = "Working"
        if call.status not in _FINISHED:
            self._finish_text()
            self._open[call.id] = call
            self._draw()
            return
        self._open.pop(call.id, None)
        self._closed.add(call.id)
        self._finish_text()
        self._draw(self._report(call))
        self._has_lines = True

    def _report(self, call: output_events.ToolCall) -> list[str]:
        """Return the lines that stay of a finished tool call: what it did, its diff, the end of its output."""
        region = self._region
        mark = region.paint(MARKS[call.status], _COLORS[call.status])
        lines = [f"{mark} {region.fit(escape_line(call.title), 2)}"]
        if call.status == "completed":  # the changes of other calls weren't made, or only in part
            for change in call.changes:
                lines += self._diff(change, call.title)
        said = [line for id in call.terminals for line in self._terminals.pop(id, ())]
        if call.status == "failed" and not said and call.title not in self._refused:
            said = escape(call.text).split("\n")[:MAX_OUTPUT_LINES] if call.text else []
        lines += [region.paint(f"  │ {region.fit(escape_line(line, 2000), 4)}", "dim") for line in said]
        return lines

    def _diff(self, change: output_events.Change, title: str) -> list[str]:
        region = self._region
        lines = [line for line in escape(change.patch).split("\n") if line]
        lines = [line for line in lines if not line.startswith(("diff --git", "index "))]
        if len(change.paths) == 1 and os.path.basename(change.paths[0]) in title and lines[:1] != ["--- /dev/null"]:
            start = next((number for number, line in enumerate(lines) if line.startswith("@@ ")), 0)
            lines = lines[start:]  # the title names the file
        shown = [
            "  " + region.paint(region.fit(line.expandtabs(4), 2), *_style_of_change(line))
            for line in lines[:MAX_DIFF_LINES]
        ]
        left = len(lines) - MAX_DIFF_LINES
        return shown + ([region.paint(f"  … {left} more lines", "dim")] if left > 0 else [])

    def _collect(self, id: str, text: str) -> None:
        """Keep the last lines that a command printed."""
        tail = self._terminals.setdefault(id, deque(maxlen=MAX_OUTPUT_LINES))
        tail.extend(line for line in text.replace("\r", "\n").split("\n") if line.strip())

    # -- progress

    def _start(self) -> None:
        self._activity = "Working"
        self._since = time.monotonic()
        self._pulse()

    def _pulse(self) -> None:
        """Count the seconds of the turn."""
        self._tick = asyncio.get_running_loop().call_later(TICK_SECONDS, self._pulse)
        if not self._region.is_held:
            self._guard(self._draw)

    def _end(self, line: output_events.Ended) -> None:
        self.stop()
        self._open.clear()
        if line.error:
            for row in line.error.split("\n"):
                self._print_notice(f"accord: {row}", "red", always=True)
        elif line.silent:
            self._print_notice("The agent ended its turn without any output.", "yellow", always=True)
        elif line.stop_reason not in ("end_turn", None):
            self._print_notice(f"The agent stopped: {line.stop_reason}", "yellow", always=True)

    def _print_notice(self, text: str, *styles: str, always: bool = False) -> None:
        if self._quiet and not always:
            return
        self._finish_text()
        self._draw([self._region.paint(escape_line(text, 2000), *styles)])
        self._has_lines = True

    def _draw(self, stays: list[str] | None = None) -> None:
        self._region.draw(stays or [], self._live())

    def _live(self) -> list[tuple[str, int]]:
        """Return the lines that are replaced next time: the last block of the answer, open calls, the activity."""
        if not self._activity:
            return []
        region = self._region
        columns, rows = region.size
        lines: list[tuple[str, int]] = []
        if self._stream is not None:
            # Lines are as wide as the terminal at most, so none is wrapped.
            lines += [(line, columns) for line in self._stream.preview(columns)]
        elif self._plain:
            end = self._plain[-(columns - 1) :]
            lines.append((region.fit(end), measure(region.fit(end))))
        for call in self._open.values():
            title = region.fit(escape_line(call.title), 2)
            lines.append((f"{region.paint('▸', 'yellow')} {title}", 2 + measure(title)))
        if not self._quiet:
            seconds = format_duration(int(time.monotonic() - self._since)) if self._since else ""
            text = region.fit(f"{self._activity}… {seconds.replace('.0s', 's')} · Ctrl-C cancel")
            lines.append((region.paint(text, "dim"), measure(text)))
        return lines[-(rows - 1) :]

    def _guard(self, draw: Callable[[], None]) -> None:
        """Draw from a timer: a closed terminal ends the run as in `line`."""
        if self.is_broken:
            return
        try:
            draw()
        except OSError:
            self.break_off()


def _style_of_change(line: str) -> tuple[str, ...]:
    if line.startswith(("+++", "---")):
        return ("bold",)
    return {"+": ("green",), "-": ("red",), "@": ("cyan",)}.get(line[0], ())

"""Block for a tool call: one line, and below it the input, output and locations when open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from accord.model.content import Image, TextContent
from accord.model.tool import Diff, Location, TerminalRef, ToolCall
from accord.terminal_text import format_duration, format_size, one_line, sanitize
from accord.transcript.plan_calls import is_plan_update
from accord.tui.session.activity import NO_RESULT
from accord.tui.session.shell import SHELL_CALL
from accord.tui.text import truncate_path
from accord.tui.transcript.ansi import printed_lines
from accord.tui.transcript.blocks import diff as diffs
from accord.tui.transcript.blocks.attachment import render_attachment
from accord.tui.transcript.blocks.base import EDGE, GUTTER, NO_RESULT_MARK, Block, BlockContext
from accord.tui.transcript.blocks.tool_text import (
    as_json,
    end_of_output,
    last_error_line,
    split_command,
    with_operations,
    words_of,
)

if TYPE_CHECKING:
    from accord.tui.agent.workspace import CommandOutput

ICONS = {
    "read": "≡",
    "edit": "±",
    "delete": "−",
    "move": "→",
    "search": "/",
    "execute": "$",
    "think": "…",
    "fetch": "↓",
    "switch_mode": "↔",
    "other": "•",
}
"""Marks of the kinds of tools, from what every monospaced font has."""
STATUSES = {
    "pending": "○",
    "in_progress": "◐",
    "paused": "‖",
    "completed": "✓",
    "failed": "✗",
    "cancelled": "⊘",
}
PREVIEW = 12
"""Lines of a diff or a running command shown while folded."""
END_LINES = 5
"""Last lines of a finished command's output shown while folded."""
MAX_LINES = 400
"""Lines of each part shown when open."""
MAX_TEXT = 100_000
_NOTHING: tuple[Any, ...] = (None, {}, [], "")


class ToolBlock(Block):
    """A tool call. When folded, diffs and running commands show a few lines; when open, everything."""

    gap: int = 0

    def __init__(self, call: ToolCall, context: BlockContext, is_open: bool | None = None, *, gap: int = 0) -> None:
        super().__init__(context, is_open)
        self.call = call
        self.gap = gap
        self._ends: dict[str, CommandOutput | None] = {}  # outputs of its terminals when it was rendered

    @property
    def ticks(self) -> bool:
        return self._is_active or self._is_running

    @property
    def _has_no_result(self) -> bool:
        """Whether it isn't running any more, though the agent never reported its end."""
        return not self.call.is_final and self.context.is_unfinished(self.call)

    @property
    def _is_active(self) -> bool:
        return not self.call.is_final and not self._has_no_result

    @property
    def _status(self) -> str:
        """Its status as text."""
        return NO_RESULT if self._has_no_result else self.call.status.replace("_", " ")

    @property
    def can_open(self) -> bool:
        return not self.is_open

    def render(self, before: list[Strip]) -> list[Strip]:
        self.is_truncated = False
        if is_plan_update(self.call) and not self.context.names_speakers:
            return []  # the plan is shown elsewhere
        last = self.context.terminal_end or self.context.terminal
        self._ends = {item.terminal_id: last(item.terminal_id) for item in self._terminals}
        lines = [*self.blank(), *self.margin([self._head()])]
        if self.is_open:
            lines += self._below(self._render_details())
        elif self.is_open is None:
            lines += self._below(self._preview())
        if self.context.chosen == ("tool", self.call.id) and (hint := self.context.stop_hint(self.call)):
            lines += self._below([self.text_styles.line((hint, self.text_styles.warn))])
        return lines

    def _below(self, lines: list[Strip]) -> list[Strip]:
        """Indent lines with a bar below the fold mark."""
        edge = Segment(f"{'':{GUTTER}}│ ", self.text_styles.base + self.text_styles.faint + EDGE)
        return [Strip([edge, *line]) for line in lines]

    @property
    def width(self) -> int:
        return super().width - GUTTER

    def text(self) -> str:
        parts = [self.call.title]
        for item in self.call.content:
            if isinstance(item, TextContent):
                parts.append(item.text)
            elif isinstance(item, Diff):
                parts.append(item.patch)
            elif isinstance(item, TerminalRef) and (printed := self.context.terminal(item.terminal_id)):
                parts.append(printed.text)
        return "\n".join(parts)

    def whole(self) -> str:
        """Return its text, input and output."""
        parts = [self.text()]
        for title, value in (("input", self.call.raw_input), ("output", self.call.raw_output)):
            if value not in _NOTHING and not (title == "output" and self._shows_value(value)):
                parts.append(f"{title}:\n{as_json(value, clip=False)}")
        return "\n\n".join(parts)

    # -- the line itself

    def _head(self) -> Strip:
        text_styles, call = self.text_styles, self.call
        style = {
            "completed": text_styles.good,
            "failed": text_styles.bad,
            "cancelled": text_styles.warn,
            "in progress": text_styles.accent,
            NO_RESULT: text_styles.warn,
        }.get(self._status, text_styles.dim)
        mark = NO_RESULT_MARK if self._has_no_result else STATUSES.get(call.status, "?")
        exit_status = self._exit_status if call.is_final and not self.is_open else ""
        if self._exit_status and call.status == "completed":  # the call has worked, its command hasn't
            mark, style = STATUSES["failed"], text_styles.bad
        no_result = [NO_RESULT] if self._has_no_result and not self.context.names_speakers else []
        about = ", ".join(filter(None, [self._elapsed(), exit_status, *no_result]))
        fold = "▾ " if self.is_open else "▸ "
        tail = f"  {about}" if about else ""
        if self.context.names_speakers:
            words = f"Tool, {one_line(self._status, 20)}: "
            title = self._title(max(self.width - len(tail) - len(words), 10))
            return text_styles.line((words, style), (title, None), (tail, text_styles.dim))
        title = self._title(max(self.width - len(tail) - 8, 10))
        return text_styles.line(
            (fold, text_styles.faint),
            (f"{mark} ", style),
            (f"{ICONS.get(call.kind, '•')} ", text_styles.dim),
            (title, text_styles.bad if call.status == "failed" else None),
            (tail, text_styles.dim),
        )

    @property
    def _exit_status(self) -> str:
        """The exit status of a command that failed; empty if none did."""
        ends = [printed.exit for printed in self._ends.values() if printed is not None and printed.exit is not None]
        failed = next((each for each in ends if each.signal or each.code), None)
        if failed is None:
            return ""
        return f"signal {one_line(str(failed.signal), 20)}" if failed.signal else f"exit status {failed.code}"

    def _title(self, most: int | None = None) -> str:
        """Return its title, truncated to the room there is."""
        return one_line(self.call.title or self.call.name or self.call.kind, most or max(self.width - 18, 10))

    def _elapsed(self) -> str:
        span = self.context.spans.get(self.call.id)
        if span is None or self.call.replayed:
            return ""
        seconds = span.seconds(self.context.now())
        waits = ["waiting for you"] if span.asked is not None and span.ended is None else []
        return ", ".join([*([format_duration(seconds)] if seconds >= 0.05 else []), *waits])

    # -- the lines below it

    def _preview(self) -> list[Strip]:
        """Return the diff, the last lines of a running command, or the last line of a failed one."""
        failed = (
            last_error_line(self.call, self._ends.values()) if not self._is_active and not self._is_running else None
        )
        if failed is not None and not self.call.diffs:
            return self._end() or self.text_styles.draw(failed, self.width)[:1]
        if self.call.replayed or (self.call.diffs and self._is_asked):
            return []
        if self.call.diffs:
            lines = [line for item in self.call.diffs for line in self._diff(item)]
            return self._truncate_lines(lines, PREVIEW)
        if self._is_active or self._is_running:
            lines = [line for item in self._terminals for line in self._shell(item)]
            return lines[-PREVIEW:]
        if lines := self._end():
            return lines
        return [line for item in self.call.content if isinstance(item, Image) for line in render_attachment(item, self)]

    @property
    def _is_asked(self) -> bool:
        """Whether a permission request about it is open, which shows the changes."""
        span = self.context.spans.get(self.call.id)
        return span is not None and span.asked is not None and span.ended is None and not self.call.is_final

    def _end(self) -> list[Strip]:
        """Return the last lines of a command's output."""
        rows, skipped = end_of_output(self.call, self._ends.values(), END_LINES + 1)
        if skipped and len(rows) > END_LINES:  # a note about one line would take as much room as the line
            rows, skipped = rows[1:], skipped + 1
        lines = [line for row in rows for line in self.text_styles.draw(row, self.width)[:1]]
        if skipped and lines:
            count = "1 line" if skipped == 1 else f"{skipped} lines"
            lines.insert(0, self.text_styles.line((f"⋯ +{count}", self.text_styles.dim)))
        return lines

    @property
    def _terminals(self) -> list[TerminalRef]:
        return [item for item in self.call.content if isinstance(item, TerminalRef)]

    @property
    def _is_running(self) -> bool:
        """Whether a command of it is still running, even if the call has ended."""
        return any(printed is not None and printed.is_running for printed in self._ends.values())

    def _render_details(self) -> list[Strip]:
        text_styles, call = self.text_styles, self.call
        lines: list[Strip] = []
        lines += [
            text_styles.line(("→ ", text_styles.dim), (self._place(location), text_styles.accent))
            for location in call.locations[:20]
        ]
        command, rest = split_command(call.raw_input)
        if command and not self._shows_command(command):
            lines += self._truncate_lines(
                self.text_styles.draw(Text(f"$ {sanitize(command[:MAX_TEXT])}", text_styles.strong), self.width),
                PREVIEW,
            )
        for item in call.content:
            lines += self._item(item)
        if call.raw_output not in _NOTHING and not self._shows_value(call.raw_output):
            lines += self._part("output", call.raw_output)
        if rest not in _NOTHING:
            lines += self._part("input", rest)
        if call.name or not lines:
            about = ", ".join(filter(None, [call.kind, call.name, self._status]))
            lines.append(text_styles.line((one_line(about, self.width), text_styles.dim)))
        return lines

    def _shows_command(self, command: str) -> bool:
        """Return whether the command is visible elsewhere: in the title or in its terminal."""
        return command == self._title() or any(printed and printed.command for printed in self._ends.values())

    def _is_command_in_title(self, command: str) -> bool:
        if self.call.id.startswith(SHELL_CALL):  # its title is what the user typed
            return True
        return one_line(command, MAX_TEXT) in self._title()

    def _shows_value(self, value: Any) -> bool:
        """Return whether everything in the raw output is already shown."""
        words = [each.strip() for each in words_of(value)]
        if not words or any(len(each) > MAX_TEXT for each in words):
            return False
        shown = self.text()
        return all(each in shown for each in words)

    def _item(self, item: Any) -> list[Strip]:
        if isinstance(item, Diff):
            return self._truncate_lines(self._diff(item), MAX_LINES)
        if isinstance(item, TerminalRef):
            return self._shell(item)
        if isinstance(item, TextContent):
            return self._words(item.text)
        return render_attachment(item, self)

    def _words(self, text: str) -> list[Strip]:
        from accord.tui.transcript.markdown import Prose

        prose = Prose(self.text_styles, self.width)
        if len(text) > MAX_TEXT:
            note = f"… {format_size(len(text) - MAX_TEXT)} more; press e to open it in your editor"
            self.is_truncated = True
            return [*self._words(text[:MAX_TEXT]), self.text_styles.line((note, self.text_styles.warn))]
        if text.count("\n") > MAX_LINES or len(text) > 20_000:
            return self._truncate_lines(self.text_styles.draw(Text(sanitize(text)), self.width), MAX_LINES)
        prose.feed(sanitize(text))
        return self._truncate_lines(prose.lines, MAX_LINES)

    def _diff(self, item: Diff) -> list[Strip]:
        context, item = self.context, with_operations(item, self.call)
        return diffs.draw(item, self.text_styles, self.width, side_by_side=context.side_by_side, cwd=context.cwd)

    def _shell(self, item: TerminalRef) -> list[Strip]:
        text_styles = self.text_styles
        printed = self._ends.get(item.terminal_id)
        if printed is None:
            return self._without_output()
        lines: list[Strip] = []
        if printed.command and not self._is_command_in_title(printed.command):
            lines.append(
                text_styles.line(
                    ("$ ", text_styles.dim), (one_line(printed.command, self.width - 2), text_styles.strong)
                )
            )
        rows, skipped = printed_lines(printed.text, MAX_LINES if self.is_open else PREVIEW)
        skipped += printed.skipped
        if skipped or printed.is_truncated:
            self.is_truncated = True
            count = f"{skipped} earlier lines" if skipped else "earlier output was not saved"
            lines.append(text_styles.line((f"⋯ {count}", text_styles.dim)))
        for row in rows:
            lines += text_styles.draw(row, self.width)[:1]
        if printed.exit is not None:
            end = printed.exit
            words = f"signal {one_line(str(end.signal), 40)}" if end.signal else f"exit status {end.code}"
            lines.append(text_styles.line((words, text_styles.good if end.code == 0 else text_styles.bad)))
        return lines

    def _without_output(self) -> list[Strip]:
        """Render a terminal without output: from an earlier run, or one whose output the agent never sent."""
        if self.call.replayed:
            return [self.text_styles.line(("The output of this terminal is no longer available", self.text_styles.dim))]
        if self.call.is_final:
            return [self.text_styles.line(("The agent sent no output for this terminal", self.text_styles.dim))]
        return []

    def _part(self, title: str, value: Any) -> list[Strip]:
        text_styles = self.text_styles
        flat = as_json(value, flat=True)
        if len(title) + 1 + cell_len(flat) <= self.width and "\n" not in flat:
            return [text_styles.line((f"{title} ", text_styles.dim), (sanitize(flat), None))]
        from rich.syntax import Syntax

        shown = sanitize(as_json(value)[:MAX_TEXT])
        syntax = Syntax(shown, "json", theme=text_styles.code_theme, word_wrap=True)
        lines = self._truncate_lines(text_styles.draw(syntax, self.width), 60)
        return [text_styles.line((title, text_styles.dim)), *lines]

    def _truncate_lines(self, lines: list[Strip], most: int) -> list[Strip]:
        if len(lines) <= most + 1:
            return lines
        how = "press e to open it in your editor" if self.is_open else "enter to show"
        self.is_truncated = bool(self.is_open)
        note = f"⋯ {len(lines) - most} more lines; {how}"
        return [*lines[:most], self.text_styles.line((note, self.text_styles.dim))]

    def _place(self, location: Location) -> str:
        cwd = self.context.cwd
        path = location.path[len(cwd) + 1 :] if cwd and location.path.startswith(f"{cwd}/") else location.path
        return truncate_path(path if location.line is None else f"{path}:{location.line}", self.width - 2)

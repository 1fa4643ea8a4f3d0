"""A tool call as a block: one line, and below it what it was asked, what it did, and where."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from accord.model.content import Image, TextContent
from accord.model.tool import Diff, Location, TerminalRef, ToolCall
from accord.tui.conversation import diff as diffs
from accord.tui.conversation.ansi import printed_lines
from accord.tui.conversation.block import EDGE, GUTTER, UNTOLD, UNTOLD_MARK, Block, Printed, Setting
from accord.tui.conversation.given import given, last_words
from accord.tui.conversation.named import shown
from accord.tui.conversation.raw import as_json, words_of
from accord.tui.fitting import fitted_path
from accord.tui.plain import one_line, plain, seconds_of, size_of

ICONS = {
    "read": "◫",
    "edit": "✎",
    "delete": "⌫",
    "move": "⇄",
    "search": "⌕",
    "execute": "❯",
    "think": "∴",
    "fetch": "⇣",
    "switch_mode": "⇋",
    "other": "•",
}
STATUSES = {
    "pending": "○",
    "in_progress": "◐",
    "paused": "‖",
    "completed": "✓",
    "failed": "✗",
    "cancelled": "⊘",
}
PREVIEW = 12
"""Lines of a change, or of a command that runs, that are shown unasked."""
MOST_LINES = 400
"""Lines of one part that are shown when it is opened."""
MOST_TEXT = 100_000
_NOTHING: tuple[Any, ...] = (None, {}, [], "")


class ToolBlock(Block):
    """What the agent does. Changes and running commands show some of themselves; all of it when opened."""

    gap = 0

    def __init__(self, call: ToolCall, setting: Setting, is_open: bool | None = None, *, gap: int = 0) -> None:
        super().__init__(setting, is_open)
        self.call = call
        self.gap = gap
        self._ends: dict[str, Printed | None] = {}  # of the terminals it shows, as they were when it was drawn

    @property
    def ticks(self) -> bool:
        return self._is_at_work or self._goes_on

    @property
    def _is_untold(self) -> bool:
        """Whether nothing is at it any more though it has no end."""
        return not self.call.is_final and self.setting.untold(self.call)

    @property
    def _is_at_work(self) -> bool:
        return not self.call.is_final and not self._is_untold

    @property
    def _status(self) -> str:
        """How it is, in words."""
        return UNTOLD if self._is_untold else self.call.status.replace("_", " ")

    @property
    def can_open(self) -> bool:
        return not self.is_open

    def drawn(self, before: list[Strip]) -> list[Strip]:
        self.is_cut = False
        last = self.setting.terminal_end or self.setting.terminal
        self._ends = {item.terminal_id: last(item.terminal_id) for item in self._terminals}
        lines = [*self.blank(), *self.margin([self._head()])]
        if self.is_open:
            lines += self._below(self._everything())
        elif self.is_open is None:
            lines += self._below(self._preview())
        if self.setting.chosen == ("tool", self.call.id) and (hint := self.setting.stop_hint(self.call)):
            lines += self._below([self.look.line((hint, self.look.warn))])
        return lines

    def _below(self, lines: list[Strip]) -> list[Strip]:
        """The lines with a bar under the mark that opens them."""
        edge = Segment(f"{'':{GUTTER}}│ ", self.look.base + self.look.faint + EDGE)
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
            elif isinstance(item, TerminalRef) and (printed := self.setting.terminal(item.terminal_id)):
                parts.append(printed.text)
        return "\n".join(parts)

    def whole(self) -> str:
        """Its text, and what it was given and gave."""
        parts = [self.text()]
        for title, value in (("input", self.call.raw_input), ("output", self.call.raw_output)):
            if value not in _NOTHING and not (title == "output" and self._says(value)):
                parts.append(f"{title}:\n{as_json(value, clip=False)}")
        return "\n\n".join(parts)

    # -- the line itself

    def _head(self) -> Strip:
        look, call = self.look, self.call
        style = {
            "completed": look.good,
            "failed": look.bad,
            "cancelled": look.warn,
            "in progress": look.accent,
            UNTOLD: look.warn,
        }.get(self._status, look.dim)
        mark = UNTOLD_MARK if self._is_untold else STATUSES.get(call.status, "?")
        says_untold = [UNTOLD] if self._is_untold and not self.setting.says_who else []
        about = ", ".join(filter(None, [self._elapsed(), *says_untold]))
        fold = "▾ " if self.is_open else "▸ "
        tail = f"  {about}" if about else ""
        if self.setting.says_who:
            words = f"Tool, {one_line(self._status, 20)}: "
            title = self._title(max(self.width - len(tail) - len(words), 10))
            return look.line((words, style), (title, None), (tail, look.dim))
        title = self._title(max(self.width - len(tail) - 8, 10))
        return look.line(
            (fold, look.faint),
            (f"{mark} ", style),
            (f"{ICONS.get(call.kind, '•')} ", look.accent),
            (title, look.bad if call.status == "failed" else None),
            (tail, look.dim),
        )

    def _title(self, most: int | None = None) -> str:
        """What it is called, as much as there is room for above what is below it."""
        return one_line(self.call.title or self.call.name or self.call.kind, most or max(self.width - 18, 10))

    def _elapsed(self) -> str:
        span = self.setting.spans.get(self.call.id)
        if span is None or self.call.replayed:
            return ""
        seconds = span.seconds(self.setting.now())
        waits = ["waits for you"] if span.asked is not None and span.ended is None else []
        return ", ".join([*([seconds_of(seconds)] if seconds >= 0.05 else []), *waits])

    # -- what is below it

    def _preview(self) -> list[Strip]:
        """The change, or the last lines of a command that runs, or the last one of what failed."""
        failed = last_words(self.call, self._ends.values()) if not self._is_at_work and not self._goes_on else None
        if failed is not None and not self.call.diffs:
            return self.look.draw(failed, self.width)[:1]
        if self.call.replayed:
            return []
        if self.call.diffs:
            lines = [line for item in self.call.diffs for line in self._diff(item)]
            return self._cut(lines, PREVIEW)
        if self._is_at_work or self._goes_on:
            lines = [line for item in self._terminals for line in self._shell(item)]
            return lines[-PREVIEW:]
        return [line for item in self.call.content if isinstance(item, Image) for line in shown(item, self)]

    @property
    def _terminals(self) -> list[TerminalRef]:
        return [item for item in self.call.content if isinstance(item, TerminalRef)]

    @property
    def _goes_on(self) -> bool:
        """Whether a command that it shows runs still, though the call may be over."""
        return any(printed is not None and printed.goes_on for printed in self._ends.values())

    def _everything(self) -> list[Strip]:
        look, call = self.look, self.call
        lines: list[Strip] = []
        lines += [
            look.line(("→ ", look.accent), (self._place(location), look.primary)) for location in call.locations[:20]
        ]
        command, rest = given(call.raw_input)
        if command and not self._is_told(command):
            lines += self._cut(
                self.look.draw(Text(f"$ {plain(command[:MOST_TEXT])}", look.strong), self.width), PREVIEW
            )
        for item in call.content:
            lines += self._item(item)
        if call.raw_output not in _NOTHING and not self._says(call.raw_output):
            lines += self._part("output", call.raw_output)
        if rest not in _NOTHING:
            lines += self._part("input", rest)
        if call.name or not lines:
            about = ", ".join(filter(None, [call.kind, call.name, self._status]))
            lines.append(look.line((one_line(about, self.width), look.dim)))
        return lines

    def _is_told(self, command: str) -> bool:
        """Whether a command is seen anyway, in the line above or by the terminal that it runs in."""
        return command == self._title() or any(printed and printed.command for printed in self._ends.values())

    def _says(self, value: Any) -> bool:
        """Whether all words of a raw output are in what is shown of the call already."""
        words = [each.strip() for each in words_of(value)]
        if not words or any(len(each) > MOST_TEXT for each in words):
            return False
        shown = self.text()
        return all(each in shown for each in words)

    def _item(self, item: Any) -> list[Strip]:
        if isinstance(item, Diff):
            return self._cut(self._diff(item), MOST_LINES)
        if isinstance(item, TerminalRef):
            return self._shell(item)
        if isinstance(item, TextContent):
            return self._words(item.text)
        return shown(item, self)

    def _words(self, text: str) -> list[Strip]:
        from accord.tui.conversation.markdown import Prose

        prose = Prose(self.look, self.width)
        if len(text) > MOST_TEXT:
            note = f"… {size_of(len(text) - MOST_TEXT)} more; e opens all of it in your editor"
            self.is_cut = True
            return [*self._words(text[:MOST_TEXT]), self.look.line((note, self.look.warn))]
        if text.count("\n") > MOST_LINES or len(text) > 20_000:
            return self._cut(self.look.draw(Text(plain(text)), self.width), MOST_LINES)
        prose.feed(plain(text))
        return self._cut(prose.lines, MOST_LINES)

    def _diff(self, item: Diff) -> list[Strip]:
        setting = self.setting
        return diffs.draw(item, self.look, self.width, side_by_side=setting.side_by_side, cwd=setting.cwd)

    def _shell(self, item: TerminalRef) -> list[Strip]:
        look = self.look
        printed = self._ends.get(item.terminal_id)
        if printed is None:
            return [look.line(("the output of this terminal is not here any more", look.dim))]
        lines: list[Strip] = []
        if printed.command:
            lines.append(look.line(("$ ", look.accent), (one_line(printed.command, self.width - 2), look.strong)))
        rows, skipped = printed_lines(printed.text, MOST_LINES if self.is_open else PREVIEW)
        skipped += printed.skipped
        if skipped or printed.is_cut:
            self.is_cut = True
            count = f"{skipped} lines before" if skipped else "what was printed before is not kept"
            lines.append(look.line((f"⋯ {count}", look.dim)))
        for row in rows:
            lines += look.draw(row, self.width)[:1]
        if printed.exit is not None:
            end = printed.exit
            words = f"signal {one_line(str(end.signal), 40)}" if end.signal else f"exit status {end.code}"
            lines.append(look.line((words, look.good if end.code == 0 else look.bad)))
        return lines

    def _part(self, title: str, value: Any) -> list[Strip]:
        look = self.look
        flat = as_json(value, flat=True)
        if len(title) + 1 + cell_len(flat) <= self.width and "\n" not in flat:
            return [look.line((f"{title} ", look.dim), (plain(flat), None))]
        from rich.syntax import Syntax

        shown = plain(as_json(value)[:MOST_TEXT])
        syntax = Syntax(shown, "json", theme=look.code_theme, word_wrap=True, background_color="default")
        lines = self._cut(look.draw(syntax, self.width), 60)
        return [look.line((title, look.dim)), *lines]

    def _cut(self, lines: list[Strip], most: int) -> list[Strip]:
        if len(lines) <= most + 1:
            return lines
        how = "e opens all of it in your editor" if self.is_open else "enter shows them"
        self.is_cut = bool(self.is_open)
        note = f"⋯ {len(lines) - most} more lines; {how}"
        return [*lines[:most], self.look.line((note, self.look.dim))]

    def _place(self, location: Location) -> str:
        cwd = self.setting.cwd
        path = location.path[len(cwd) + 1 :] if cwd and location.path.startswith(f"{cwd}/") else location.path
        return fitted_path(path if location.line is None else f"{path}:{location.line}", self.width - 2)

"""Permission panel: what the agent wants to do, and numbered answers.

Keys typed for the prompt, or for the previous request, must not answer this one. The panel therefore ignores keys until
the user pauses and can have seen it. Until then, typed text goes to the prompt."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from accord.terminal_text import one_line, sanitize
from accord.tui.panels.answer_scope import (
    LENGTHS,
    Length,
    can_be_shorter,
    choose_length,
    describe_effect,
    describe_rules,
    limit_answer,
)
from accord.tui.panels.question import AskingPanel
from accord.tui.screens.hints import first_fitting
from accord.tui.text import truncate
from accord.tui.transcript.blocks import diff as diffs

if TYPE_CHECKING:
    from accord.policy.question import Choice, Question
    from accord.tui.session.controller import PendingPermission
    from accord.tui.theme import TextStyles

LETTERS = {
    "y": ("allow_once", "once"),
    "s": ("allow_always", "session"),
    "a": ("allow_always", "forever"),
    "n": ("reject_once", "once"),
}
"""Kind and scope of the answer for each letter."""


INSTEAD, INSTEAD_LETTER = "Reject and say what to do instead", "i"


def find_rejection(question: Question) -> Choice | None:
    """Return the answer that rejects once, if the agent offers it."""
    return next((each for each in question.choices if each.kind == "reject_once"), None)


def find_choice(question: Question, letter: str) -> Choice | None:
    """Return the answer for a letter, if the agent offers it."""
    return next((each for each in question.choices if (each.kind, each.scope) == LETTERS[letter]), None)


_MAX_VERB = len("Running ``")
_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}
_WORDS = re.compile(r"[\s'\"`“”:,;()]+")


def render_action(question: Question, text_styles: TextStyles, width: int, *, context: int, cwd: str) -> list[Strip]:
    """Render the action, and then the agent's description; `context` is the number of lines to show around a change."""
    action, request = question.action, question.request
    lines: list[Strip] = []
    lines_above = ""
    if request is not None:
        if action.line is None or not _only_says(request.title, action.line):
            lines += text_styles.draw(Text(one_line(request.title, 2 * width), style="bold"), width)
    else:
        verb = _VERBS.get(action.kind, one_line(action.kind))
        what = "this command" if action.line is not None else ", ".join(action.paths) or action.url or action.title
        lines_above = _in_one_line(f"The agent wants to {verb} {what}")
        lines += text_styles.draw(Text(sanitize(lines_above), style="bold"), width)
    if action.line is not None:
        lines += text_styles.draw(Text(sanitize(f"$ {action.line}"), style=text_styles.strong), width)
        where = f"in {action.cwd}" if action.cwd and action.cwd != cwd else ""
        with_ = " ".join(f"{name}={value}" for name, value in action.env)
        if where or with_:
            lines += text_styles.draw(
                Text(sanitize(" ".join(filter(None, [where, with_]))), style=text_styles.dim), width
            )
    if action.url:
        lines += text_styles.draw(Text(sanitize(_in_one_line(action.url)), style=text_styles.accent), width)
    title = request.title if request is not None else lines_above
    changed = {change.path for diff in action.changes for change in diff.changes}
    if request is not None:
        for path in action.paths:
            if path not in changed and not _names(request.title, path.removeprefix(f"{cwd}/")):
                lines += text_styles.draw(Text(sanitize(_in_one_line(path))), width)
    for diff in action.changes:  # little context, so that the change itself is visible
        lines += diffs.draw(
            diff, text_styles, width, side_by_side=True, cwd=cwd, context=context, named=sanitize(title)
        )
    # Below the action itself, because the agent's text can have any length.
    if request is not None and request.description:
        lines += text_styles.draw(Text(sanitize(request.description)), width)
    return lines


def _only_says(title: str, line: str) -> bool:
    """Return whether a title is the command, perhaps after a word such as `Run`: the command itself is shown anyway."""
    words, command = one_line(title, 10_000), one_line(line, 10_000)
    return command in words and len(words) - len(command) <= _MAX_VERB


def _in_one_line(text: str) -> str:
    """Make line breaks in a name visible, so that it can't look like several lines."""
    return text.replace("\n", "␊")


def _names(title: str, path: str) -> bool:
    """Return whether a title contains this file name. A word such as `a` may be just a word."""
    return not path.isalpha() and path in _WORDS.split(title)


_MAX_LINES = 4000
_MIN_ACTION_LINES = 4
"""Minimum number of lines for the action, whatever else doesn't fit."""
_SMALL_HEIGHT = 20
_MAX_REASON_LINES = 3
_PROMPT_LINES = 5
_UNFOCUSED_HINT, _LOCKED_HINT = "tab to answer", "new question: keys unlock in a moment"
_ONCE = ("allow_once", "reject_once")
_AROUND_ANSWER = len("❯ 1. ") + len(" (y)")
"""Cells of an answer's line that aren't part of its text."""


def _describe_reason(question: Question, cwd: str) -> str:
    """Say why the policy asks, without repeating what the panel shows above."""
    action = question.action
    shown = [action.line, action.url, *action.paths, *(path.removeprefix(f"{cwd}/") for path in action.paths)]
    for each in filter(None, shown):
        if question.why.endswith(f" ({each})"):
            return question.why.removesuffix(f" ({each})")
    return question.why


class PermissionPanel(AskingPanel):
    """Shows one permission request at a time; others are queued."""

    focus_keys: ClassVar[tuple[str, ...]] = ()  # they are on its border

    DEFAULT_CSS: ClassVar[str] = """
    PermissionPanel {
        height: auto; border: heavy $warning; padding: 0 1; background: $background;
        border-title-color: $warning; border-title-style: bold; border-subtitle-color: $muted;
    }
    """

    class Answered(Message):
        """The user chose an answer; None if the panel was left without one."""

        def __init__(self, asked: PendingPermission, choice: Choice | None) -> None:
            super().__init__()
            self.asked = asked
            self.choice = choice

    class InsteadWanted(Message):
        """The user wants to reject the request and say what to do instead."""

        def __init__(self, asked: PendingPermission) -> None:
            super().__init__()
            self.asked = asked

    class Escaped(Message):
        """The user wants the whole turn cancelled."""

    def __init__(self, text_styles: TextStyles, cwd: str, prompt: TextArea) -> None:
        super().__init__(prompt)
        self.text_styles = text_styles
        self._cwd = cwd
        self._asked: PendingPermission | None = None
        self._action_lines: list[Strip] = []
        self._body: list[Strip] = []
        """The facts, and the selected answer in full if its line truncates it."""
        self._options: list[Strip] = []
        self._at = 0
        self._drawn: tuple[int, bool] | None = None
        self._row: list[PendingPermission] = []
        """The current series of requests, including answered ones, for “2 of 3”."""
        self._length = 0
        self._reason_lines = 1
        """Lines for the reason, or for the effect of an answer."""
        self.cursor: int = 0

    def show(self, waiting: list[PendingPermission]) -> None:
        """Show the first of the pending requests."""
        asked = waiting[0]
        if asked is not self._asked:
            self._asked, self._at, self.cursor, self._length = asked, 0, _first_place(asked.question), 0
            self._drawn = None
            self._moment.begin()
        known = {id(each) for each in self._row}
        self._row = [*(self._row if id(asked) in known else []), *(each for each in waiting if id(each) not in known)]
        place = next(place for place, each in enumerate(self._row, 1) if each is asked)
        more = f" ({place} of {len(self._row)})" if len(self._row) > 1 else ""
        self.border_title = f"Permission needed{more}"
        self.say_keys(self.has_focus)
        self._fit()
        self._draw(self.size.width or self.app.size.width - 4)
        self.refresh(layout=True)

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = text_styles
        self._drawn = None
        self.refresh(layout=True)

    def say_keys(self, is_mine: bool) -> None:
        how_long = " · t duration" if can_be_shorter(self.question) else ""
        hints = [f"number or ↑↓ enter{how_long} · esc stop the turn", f"number or ↑↓ enter{how_long} · esc stop"]
        hints += [f"number or enter{how_long} · esc", "number or enter"]
        hints = hints if self._moment.is_over else [_LOCKED_HINT, "in a moment"]
        self.border_subtitle = first_fitting(hints, self.app.size.width - 8) if is_mine else _UNFOCUSED_HINT

    def _fit(self) -> None:
        """Take most of a large window and nearly all of a small one, but leave room for the prompt."""
        window = self.parent.size.height if isinstance(self.parent, Widget) else self.app.size.height
        self.styles.max_height = max(min(max(window * 3 // 4, 12), window - _PROMPT_LINES), 5)

    def on_resize(self) -> None:
        self._fit()
        self.say_keys(self.has_focus)

    @property
    def cursor_screen_offset(self) -> Offset:
        """Position of the terminal's cursor: at the selected answer."""
        room, why, _ = self._split_lines()
        x, y, _, _ = self.content_region
        return Offset(x, y + room + why + self.cursor - self._first_visible)

    @property
    def is_asking(self) -> bool:
        return self._asked is not None

    @property
    def question(self) -> Question | None:
        return self._asked.question if self._asked is not None else None

    # -- drawing

    def _draw(self, width: int) -> None:
        question = self.question
        if question is None or width <= 0:
            return
        is_small = self.app.size.height < _SMALL_HEIGHT
        if (width, is_small) != self._drawn:
            self._drawn = width, is_small
            body = render_action(question, self.text_styles, width, context=0 if is_small else 1, cwd=self._cwd)
            more = f"… and {len(body) - _MAX_LINES} more lines not shown"
            self._action_lines = [
                *body[:_MAX_LINES],
                *([self.text_styles.line((more, self.text_styles.warn))] if body[_MAX_LINES:] else []),
            ]
        self._body = [*self._action_lines, *self._answer_in_full(question, width)]
        self._options = [self._option(question, place, width) for place in range(len(question.choices))]
        if find_rejection(question) is not None:
            self._options.append(self._instead(question, width))
        told = [describe_effect(choice, self._length_of(choice)) for choice in question.choices]
        self._reason_lines = min(max(len(wrap(each, max(width, 8))) for each in (*told, "why")), _MAX_REASON_LINES)

    def _answer_in_full(self, question: Question, width: int) -> list[Strip]:
        """Render the selected answer in full if its line truncates it: users must see what they agree to."""
        if self.cursor >= len(question.choices):
            return []
        choice = question.choices[self.cursor]
        said = one_line(f"{choice.name}  {self._describe_rules(question, self.cursor)}", 10_000)
        if cell_len(said) <= width - _AROUND_ANSWER:
            return []
        return self.text_styles.draw(Text(f"{self.cursor + 1}. {said}", style=self.text_styles.dim), width)

    def _describe_rules(self, question: Question, place: int) -> str:
        """Describe the rules that an answer is remembered as, unless the answer before it says the same."""
        choice = question.choices[place]
        before = question.choices[place - 1] if place else None
        if before is not None and choice.rules and (before.rules, before.scope) == (choice.rules, choice.scope):
            return ""
        return describe_rules(choice, self._length_of(choice), is_labelled=True)

    def _length_of(self, choice: Choice) -> Length:
        """Return the duration of an answer."""
        assert self.question is not None
        return choose_length(self.question, choice, LENGTHS[self._length])

    @property
    def _count(self) -> int:
        """The number of answers, including that to reject and say what to do instead."""
        question = self.question
        return 0 if question is None else len(question.choices) + (find_rejection(question) is not None)

    def _instead(self, question: Question, width: int) -> Strip:
        place, text_styles = len(question.choices), self.text_styles
        return text_styles.line(
            ("❯ " if place == self.cursor else "  ", text_styles.accent),
            (f"{place + 1}. ", text_styles.strong),
            (truncate(INSTEAD, max(width - len("❯ 1.  (i)"), 1)), text_styles.bad),
            (f" ({INSTEAD_LETTER})", text_styles.dim),
        )

    def _option(self, question: Question, place: int, width: int) -> Strip:
        text_styles, choice = self.text_styles, question.choices[place]
        letter = next((f" ({each})" for each in LETTERS if find_choice(question, each) is choice), "")
        room = width - 2 - len(f"{place + 1}. ") - len(letter)
        name = truncate(choice.name, max(room, 1))
        remembered = self._describe_rules(question, place).strip()
        left = room - cell_len(name) - 2
        return text_styles.line(
            ("❯ " if place == self.cursor else "  ", text_styles.accent),
            (f"{place + 1}. ", text_styles.strong),
            (name, text_styles.good if choice.allows else text_styles.bad),
            (letter, text_styles.dim),
            (f"  {truncate(remembered, left)}" if remembered and left > 0 else "", text_styles.dim),
        )

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        self._draw(width)
        return len(self._body) + len(self._options) + self._reason_lines

    def _split_lines(self) -> tuple[int, int, int]:
        """Return the number of lines for the action, the reason and the answers. The action comes first; if there isn't
        room for all answers, they scroll."""
        height, body, options = self.size.height, len(self._body), len(self._options)
        least = min(body, _MIN_ACTION_LINES)
        why = max(min(self._reason_lines, height - least - options), 0)
        answers = max(min(options, height - least - why), min(options, 2))
        return max(height - why - answers, 0), why, answers

    @property
    def _first_visible(self) -> int:
        """Index of the first visible answer."""
        answers = self._split_lines()[2]
        return max(min(self.cursor - answers + 2, len(self._options) - answers), 0)

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        room, why, answers = self._split_lines()
        if y < room:
            line = self._body_line(y, room)
        elif y < room + why:
            rows = wrap(self._reason(), max(width, 8), max_lines=why, placeholder=" …")
            line = text_styles.line((rows[y - room] if y - room < len(rows) else "", text_styles.dim))
        else:
            place = y - room - why
            left = len(self._options) - self._first_visible - answers
            if place == answers - 1 and left > 0:
                line = text_styles.line((f"  ⋯ {left + 1} more answers: ↓", text_styles.warn))
            else:
                place += self._first_visible
                line = self._options[place] if place < len(self._options) else text_styles.line(("", None))
        return line.adjust_cell_length(width, text_styles.base)

    def _body_line(self, y: int, room: int) -> Strip:
        at, text_styles = self._at + y, self.text_styles
        if y == room - 1 and self._at + room < len(self._body):
            return text_styles.line(
                (f"⋯ {len(self._body) - self._at - room + 1} more lines: page down", text_styles.warn)
            )
        return self._body[at] if at < len(self._body) else text_styles.line(("", None))

    def _reason(self) -> str:
        """Return the reason for asking; or, at a remembered answer, how long and where it is saved."""
        question = self.question
        if question is None:
            return ""
        choice = question.choices[self.cursor] if self.cursor < len(question.choices) else None
        kept = describe_effect(choice, self._length_of(choice)) if choice is not None else ""
        return (
            one_line(kept, 1000)
            if kept
            else one_line(f"Why you are asked: {_describe_reason(question, self._cwd)}", max(self.size.width, 8))
        )

    # -- answering

    def on_key(self, event: events.Key) -> None:
        question = self.question
        if question is None:
            return
        key = event.key
        if key.startswith(("alt+", "ctrl+")) or not (event.is_printable or key in _KEYS):
            return  # not for this panel
        event.stop()
        event.prevent_default()
        if key == "escape":
            self.post_message(self.Escaped())
        elif self._moment.comes_early() and key not in _MOVES:
            self.say_keys(self.has_focus)
        elif (choice := self._answer_by(key)) is not None:
            self.accept_key(key)
            self._choose(choice)
        elif self._is_instead(key) or (key == "enter" and self.cursor >= len(question.choices)):
            self.accept_key(key)
            self._ask_instead()
        elif key == "enter":
            self.accept_key(key)
            self._choose(question.choices[self.cursor])
        elif key == "t" and can_be_shorter(question):
            self.accept_key(key)
            self._length = (self._length + 1) % len(LENGTHS)
            self._draw(self.size.width)
            self.refresh()
        elif key in ("up", "down"):
            self.cursor = (self.cursor + (1 if key == "down" else -1)) % max(self._count, 1)
            self._draw(self.size.width)
            self.refresh(layout=True)  # an answer shown in full takes more lines
        elif key in ("pagedown", "pageup"):
            room = max(self._split_lines()[0] - 1, 1)
            self._at = max(0, min(self._at + (room if key == "pagedown" else -room), len(self._body) - room))
            self.refresh()

    def _answer_by(self, key: str) -> Choice | None:
        """Return the answer for a number or a letter."""
        question = self.question
        if question is not None and key.isdecimal() and 1 <= int(key) <= len(question.choices):
            return question.choices[int(key) - 1]
        return find_choice(question, key) if question is not None and key in LETTERS else None

    def _is_instead(self, key: str) -> bool:
        """Return whether a number or letter is for the answer that rejects and says what to do instead."""
        question = self.question
        if question is None or find_rejection(question) is None:
            return False
        return key in (INSTEAD_LETTER, str(len(question.choices) + 1))

    def _ask_instead(self) -> None:
        if self._asked is not None:
            self.post_message(self.InsteadWanted(self._asked))

    def is_answer_key(self, key: str) -> bool:
        return (
            self._is_instead(key) or self._answer_by(key) is not None or (key == "t" and can_be_shorter(self.question))
        )

    def on_click(self, event: events.Click) -> None:
        question = self.question
        at = event.get_content_offset(self)  # None on the border
        room, why, answers = self._split_lines()
        place = at.y - room - why if at is not None else -1
        is_more = place == answers - 1 and self._first_visible + answers < len(self._options)
        if question is not None and 0 <= place < answers and not is_more and not self._moment.comes_early():
            at_choice = self._first_visible + place
            if at_choice < len(question.choices):
                self._choose(question.choices[at_choice])
            else:
                self._ask_instead()

    def _choose(self, choice: Choice) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self.post_message(self.Answered(asked, limit_answer(asked.question, choice, LENGTHS[self._length])))


def _first_place(question: Question) -> int:
    """Return the initial cursor position: a one-time answer, if there is one."""
    return next((place for place, choice in enumerate(question.choices) if choice.kind in _ONCE), 0)


_MOVES = ("up", "down", "pageup", "pagedown")
_KEYS = ("escape", "enter", *_MOVES)

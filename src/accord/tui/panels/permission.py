"""The question of the policy: what would happen, and numbered answers. It cannot be missed, and not be hit by accident.

Keys that were typed for the prompt, or for the question before, must not answer it: it takes no keys until the user has
paused, and none before it has been seen for a moment. What is typed until then goes to the prompt."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from accord.tui.fitting import fitted
from accord.tui.panels.asking import AskingPanel
from accord.tui.panels.facts import what_would_happen
from accord.tui.panels.lasting import (
    LENGTHS,
    Length,
    can_be_shorter,
    limited,
    possible,
    what_becomes_of_it,
    what_is_remembered,
)
from accord.tui.panels.letters import LETTERS, meant
from accord.tui.plain import one_line
from accord.tui.screens.hints import shortest

if TYPE_CHECKING:
    from accord.policy.choices import Choice, Question
    from accord.tui.look import Look
    from accord.tui.talk import Asked

_MOST_LINES = 4000
_LEAST = 4
"""How many lines of what would happen are seen, whatever else there is no room for."""
_SMALL = 20
_MOST_WHYS = 3
_PROMPT = 5
_ASLEEP, _SOON = "tab to answer", "just asked: keys count in a moment"
_ONCE = ("allow_once", "reject_once")


class PermissionPanel(AskingPanel):
    """Shows one question at a time; the others wait behind it."""

    DEFAULT_CSS = """
    PermissionPanel {
        height: auto; border: heavy $warning; padding: 0 1; background: $background;
        border-title-color: $warning; border-title-style: bold; border-subtitle-color: $foreground 60%;
    }
    """

    class Answered(Message):
        """The user chose; None for going away without an answer."""

        def __init__(self, asked: Asked, choice: Choice | None) -> None:
            super().__init__()
            self.asked = asked
            self.choice = choice

    class Escaped(Message):
        """The user wants the whole turn cancelled."""

    def __init__(self, look: Look, cwd: str, prompt: TextArea) -> None:
        super().__init__(prompt)
        self.look = look
        self._cwd = cwd
        self._asked: Asked | None = None
        self._body: list[Strip] = []
        self._options: list[Strip] = []
        self._at = 0
        self._drawn: tuple[int, bool] | None = None
        self._row: list[Asked] = []
        """The questions that wait behind one another, with those that are over."""
        self._length = 0
        self._whys = 1
        """How many lines it takes to say why it is asked, or what becomes of an answer."""
        self.cursor = 0

    def show(self, waiting: list[Asked]) -> None:
        """Shows the first of those that wait."""
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

    def say_keys(self, is_mine: bool) -> None:
        how_long = " · t how long" if can_be_shorter(self.question) else ""
        hints = [f"number or ↑↓ and enter{how_long} · esc stops the turn", f"number or ↑↓ enter{how_long} · esc stops"]
        hints += [f"number or enter{how_long} · esc", "number or enter"]
        hints = hints if self._moment.is_over else [_SOON, "in a moment"]
        self.border_subtitle = shortest(hints, self.app.size.width - 8) if is_mine else _ASLEEP

    def _fit(self) -> None:
        """Takes most of a large window and nearly all of a small one, but never the place of the prompt."""
        window = self.parent.size.height if isinstance(self.parent, Widget) else self.app.size.height
        self.styles.max_height = max(min(max(window * 3 // 4, 12), window - _PROMPT), 5)

    def on_resize(self) -> None:
        self._fit()
        self.say_keys(self.has_focus)

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the terminal's cursor is meanwhile: at the answer that enter would give."""
        room, why, _ = self._shares()
        x, y, _, _ = self.content_region
        return Offset(x, y + room + why + self.cursor - self._first)

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
        is_small = self.app.size.height < _SMALL
        if (width, is_small) != self._drawn:
            self._drawn = width, is_small
            body = what_would_happen(question, self.look, width, context=0 if is_small else 1, cwd=self._cwd)
            more = f"… and {len(body) - _MOST_LINES} lines more, which are not shown here"
            self._body = [
                *body[:_MOST_LINES],
                *([self.look.line((more, self.look.warn))] if body[_MOST_LINES:] else []),
            ]
        self._options = [self._option(question, place, width) for place in range(len(question.choices))]
        told = [what_becomes_of_it(choice, self._lasts(choice)) for choice in question.choices]
        self._whys = min(max(len(wrap(each, max(width, 8))) for each in (*told, "asked")), _MOST_WHYS)

    def _lasts(self, choice: Choice) -> Length:
        """How long an answer would hold."""
        assert self.question is not None
        return possible(self.question, choice, LENGTHS[self._length])

    def _option(self, question: Question, place: int, width: int) -> Strip:
        look, choice = self.look, question.choices[place]
        letter = next((f" ({each})" for each in LETTERS if meant(question, each) is choice), "")
        room = width - 2 - len(f"{place + 1}. ") - len(letter)
        name = fitted(choice.name, max(room, 1))
        remembered = what_is_remembered(choice, self._lasts(choice)).strip()
        left = room - cell_len(name) - 2
        return look.line(
            ("❯ " if place == self.cursor else "  ", look.accent),
            (f"{place + 1}. ", look.strong),
            (name, look.good if choice.allows else look.bad),
            (letter, look.dim),
            (f"  {fitted(remembered, left)}" if remembered and left > 0 else "", look.dim),
        )

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        self._draw(width)
        return len(self._body) + len(self._options) + self._whys

    def _shares(self) -> tuple[int, int, int]:
        """How many lines what would happen gets, why it is asked, and the answers. What would happen comes first: where
        there is no room for all answers, the others are scrolled to."""
        height, body, options = self.size.height, len(self._body), len(self._options)
        least = min(body, _LEAST)
        why = max(min(self._whys, height - least - options), 0)
        answers = max(min(options, height - least - why), min(options, 2))
        return max(height - why - answers, 0), why, answers

    @property
    def _first(self) -> int:
        """The first answer that is seen."""
        answers = self._shares()[2]
        return max(min(self.cursor - answers + 2, len(self._options) - answers), 0)

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        room, why, answers = self._shares()
        if y < room:
            line = self._body_line(y, room)
        elif y < room + why:
            rows = wrap(self._why(), max(width, 8), max_lines=why, placeholder=" …")
            line = look.line((rows[y - room] if y - room < len(rows) else "", look.dim))
        else:
            place = y - room - why
            left = len(self._options) - self._first - answers
            if place == answers - 1 and left > 0:
                line = look.line((f"  ⋯ {left + 1} answers more: ↓", look.warn))
            else:
                place += self._first
                line = self._options[place] if place < len(self._options) else look.line(("", None))
        return line.adjust_cell_length(width, look.base)

    def _body_line(self, y: int, room: int) -> Strip:
        at, look = self._at + y, self.look
        if y == room - 1 and self._at + room < len(self._body):
            return look.line((f"⋯ {len(self._body) - self._at - room + 1} lines more: page down", look.warn))
        return self._body[at] if at < len(self._body) else look.line(("", None))

    def _why(self) -> str:
        """Why it is asked; or, at an answer that is remembered, how long and where."""
        question = self.question
        if question is None:
            return ""
        choice = question.choices[self.cursor] if self.cursor < len(question.choices) else None
        kept = what_becomes_of_it(choice, self._lasts(choice)) if choice is not None else ""
        return one_line(kept, 1000) if kept else one_line(f"asked because {question.why}", max(self.size.width, 8))

    # -- answering

    def on_key(self, event: events.Key) -> None:
        question = self.question
        if question is None:
            return
        key = event.key
        if key.startswith(("alt+", "ctrl+")) or not (event.is_printable or key in _MINE):
            return  # for others
        event.stop()
        event.prevent_default()
        if key == "escape":
            self.post_message(self.Escaped())
        elif self._moment.comes_early() and key not in _MOVES:
            self.say_keys(self.has_focus)
        elif (choice := self._answer_by(key)) is not None:
            self.counts(key)
            self._choose(choice)
        elif key == "enter":
            self.counts(key)
            self._choose(question.choices[self.cursor])
        elif key == "t" and can_be_shorter(question):
            self.counts(key)
            self._length = (self._length + 1) % len(LENGTHS)
            self._draw(self.size.width)
            self.refresh()
        elif key in ("up", "down"):
            self.cursor = (self.cursor + (1 if key == "down" else -1)) % max(len(question.choices), 1)
            self._draw(self.size.width)
            self.refresh()
        elif key in ("pagedown", "pageup"):
            room = max(self._shares()[0] - 1, 1)
            self._at = max(0, min(self._at + (room if key == "pagedown" else -room), len(self._body) - room))
            self.refresh()

    def _answer_by(self, key: str) -> Choice | None:
        """The answer that a number or a letter gives."""
        question = self.question
        if question is not None and key.isdecimal() and 1 <= int(key) <= len(question.choices):
            return question.choices[int(key) - 1]
        return meant(question, key) if question is not None and key in LETTERS else None

    def means_something(self, key: str) -> bool:
        return self._answer_by(key) is not None or (key == "t" and can_be_shorter(self.question))

    def on_click(self, event: events.Click) -> None:
        question = self.question
        at = event.get_content_offset(self)  # within the border, which is no answer
        room, why, answers = self._shares()
        place = at.y - room - why if at is not None else -1
        is_more = place == answers - 1 and self._first + answers < len(self._options)
        if question is not None and 0 <= place < answers and not is_more and not self._moment.comes_early():
            self._choose(question.choices[self._first + place])

    def _choose(self, choice: Choice) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self.post_message(self.Answered(asked, limited(asked.question, choice, LENGTHS[self._length])))


def _first_place(question: Question) -> int:
    """Where the cursor begins: at an answer that is for this once."""
    return next((place for place, choice in enumerate(question.choices) if choice.kind in _ONCE), 0)


_MOVES = ("up", "down", "pageup", "pagedown")
_MINE = ("escape", "enter", *_MOVES)

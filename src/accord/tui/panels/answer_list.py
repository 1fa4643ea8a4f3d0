"""The answers to one permission request: their keys, the selected one, its duration, and the lines that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text
from textual.strip import Strip

from accord.terminal_text import one_line
from accord.tui.panels.answer_scope import (
    LENGTHS,
    Length,
    can_be_shorter,
    choose_length,
    describe_effect,
    describe_rules,
    limit_answer,
)
from accord.tui.text import truncate

if TYPE_CHECKING:
    from accord.policy.question import Choice, Question
    from accord.tui.theme import TextStyles

LETTERS = {
    "y": ("allow_once", "once"),
    "s": ("allow_always", "session"),
    "a": ("allow_always", "forever"),
    "n": ("reject_once", "once"),
}
"""Kind and scope of the answer for each letter."""
INSTEAD, INSTEAD_LETTER = "Reject and say what to do instead", "i"
_ONCE = ("allow_once", "reject_once")
_AROUND_ANSWER = len("❯ 1. ") + len(" (y)")
"""Cells of an answer's line that aren't part of its text."""


class AnswerList:
    """The choices of the policy, and last, if the agent can be refused, the answer that says what to do instead."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.cursor: int = next((place for place, each in enumerate(question.choices) if each.kind in _ONCE), 0)
        """The index of the selected answer: at first a one-time answer, if there is one."""
        self._has_instead = question.choice("reject_once") is not None
        self._length = LENGTHS[0]

    def __len__(self) -> int:
        return len(self.question.choices) + self._has_instead

    def __getitem__(self, place: int) -> Choice | None:
        """Return the choice at an index; None for the answer that says what to do instead."""
        return self.question.choices[place] if place < len(self.question.choices) else None

    @property
    def selected(self) -> Choice | None:
        return self[self.cursor]

    # -- keys

    def find(self, key: str) -> Choice | None:
        """Return the choice for a number or a letter, if the agent offers it."""
        choices = self.question.choices
        if key.isdecimal() and 1 <= int(key) <= len(choices):
            return choices[int(key) - 1]
        return self._find_by_letter(key) if key in LETTERS else None

    def _find_by_letter(self, letter: str) -> Choice | None:
        return next((each for each in self.question.choices if (each.kind, each.scope) == LETTERS[letter]), None)

    def is_instead(self, key: str) -> bool:
        """Return whether a number or letter is for the answer that says what to do instead."""
        return self._has_instead and key in (INSTEAD_LETTER, str(len(self.question.choices) + 1))

    def move(self, by: int) -> None:
        """Select the answer `by` places further down."""
        self.cursor = (self.cursor + by) % max(len(self), 1)

    # -- duration

    @property
    def can_be_shorter(self) -> bool:
        """Whether a permanent answer could be limited in time."""
        return can_be_shorter(self.question)

    def change_length(self) -> None:
        """Choose the next duration."""
        self._length = LENGTHS[(LENGTHS.index(self._length) + 1) % len(LENGTHS)]

    def limit(self, choice: Choice) -> Choice:
        """Return the answer for the policy, with the chosen duration."""
        return limit_answer(self.question, choice, self._length)

    def describe_effect(self, choice: Choice) -> str:
        """Return the rules, duration and location of a remembered answer; empty for a one-time answer."""
        return describe_effect(choice, self._length_of(choice))

    def _length_of(self, choice: Choice) -> Length:
        return choose_length(self.question, choice, self._length)

    def _describe_rules(self, place: int) -> str:
        """Describe the rules that an answer is remembered as, unless the answer before it says the same."""
        choices = self.question.choices
        choice, before = choices[place], choices[place - 1] if place else None
        if before is not None and choice.rules and (before.rules, before.scope) == (choice.rules, choice.scope):
            return ""
        return describe_rules(choice, self._length_of(choice), is_labeled=True)

    # -- drawing

    def render(self, text_styles: TextStyles, width: int) -> list[Strip]:
        """Render each answer as a line."""
        lines = [
            self._render_choice(place, choice, text_styles, width) for place, choice in enumerate(self.question.choices)
        ]
        return [*lines, self._render_instead(text_styles, width)] if self._has_instead else lines

    def render_selected(self, text_styles: TextStyles, width: int) -> list[Strip]:
        """Render the selected answer in full if its line truncates it: users must see what they agree to."""
        choice = self.selected
        if choice is None:
            return []
        text = one_line(f"{choice.name}  {self._describe_rules(self.cursor)}", 10_000)
        if cell_len(text) <= width - _AROUND_ANSWER:
            return []
        return text_styles.draw(Text(f"{self.cursor + 1}. {text}", style=text_styles.dim), width)

    def _render_choice(self, place: int, choice: Choice, text_styles: TextStyles, width: int) -> Strip:
        letter = next((f" ({each})" for each in LETTERS if self._find_by_letter(each) is choice), "")
        room = width - 2 - len(f"{place + 1}. ") - len(letter)
        name = truncate(choice.name, max(room, 1))
        remembered = self._describe_rules(place).strip()
        left = room - cell_len(name) - 2
        return text_styles.line(
            ("❯ " if place == self.cursor else "  ", text_styles.accent),
            (f"{place + 1}. ", text_styles.strong),
            (name, text_styles.good if choice.allows else text_styles.bad),
            (letter, text_styles.dim),
            (f"  {truncate(remembered, left)}" if remembered and left > 0 else "", text_styles.dim),
        )

    def _render_instead(self, text_styles: TextStyles, width: int) -> Strip:
        place = len(self.question.choices)
        return text_styles.line(
            ("❯ " if place == self.cursor else "  ", text_styles.accent),
            (f"{place + 1}. ", text_styles.strong),
            (truncate(INSTEAD, max(width - len("❯ 1.  (i)"), 1)), text_styles.bad),
            (f" ({INSTEAD_LETTER})", text_styles.dim),
        )

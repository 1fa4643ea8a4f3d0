"""Permission panel: what the agent wants to do, and numbered answers.

Keys typed for the prompt, or for the previous request, must not answer this one. The panel therefore ignores keys until
the user pauses and can have seen it. Until then, typed text goes to the prompt."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from accord.terminal_text import one_line
from accord.tui.panels.answer_list import AnswerList
from accord.tui.panels.permission_action import render_action
from accord.tui.panels.question import AskingPanel
from accord.tui.screens.hints import first_fitting

if TYPE_CHECKING:
    from accord.policy.question import Choice
    from accord.tui.session.controller import PendingPermission
    from accord.tui.theme import TextStyles

_MAX_LINES = 4000
_MIN_ACTION_LINES = 4
"""Minimum number of lines for the action, even if the answers then have to scroll."""
_SMALL_HEIGHT = 20
_MAX_REASON_LINES = 3
_PROMPT_LINES = 5
_UNFOCUSED_HINT, _LOCKED_HINT = "tab to answer", "new question: keys unlock in a moment"
_MOVES = ("up", "down", "pageup", "pagedown")
_KEYS = ("escape", "enter", *_MOVES)


class PermissionPanel(AskingPanel):
    """Shows one permission request at a time; others are queued."""

    focus_keys: ClassVar[tuple[str, ...]] = ("f1 keys",)  # its own are on its border

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
        self._answers: AnswerList | None = None
        self._action_lines: list[Strip] = []
        self._body: list[Strip] = []
        """The action, and the selected answer in full if its line truncates it."""
        self._options: list[Strip] = []
        self._at = 0
        self._drawn: tuple[int, bool] | None = None
        self._series: list[PendingPermission] = []
        """The current series of requests, including answered ones, for “2 of 3”."""
        self._reason_lines = 1
        """Lines for the reason, or for the effect of an answer."""

    def show(self, waiting: list[PendingPermission]) -> None:
        """Show the first of the pending requests."""
        asked = waiting[0]
        if asked is not self._asked:
            self._asked, self._answers, self._at = asked, AnswerList(asked.question), 0
            self._drawn = None
            self._moment.begin()
        known = {id(each) for each in self._series}
        earlier = self._series if id(asked) in known else []
        self._series = [*earlier, *(each for each in waiting if id(each) not in known)]
        place = next(place for place, each in enumerate(self._series, 1) if each is asked)
        more = f" ({place} of {len(self._series)})" if len(self._series) > 1 else ""
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
        how_long = " · t duration" if self._answers is not None and self._answers.can_be_shorter else ""
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
    def cursor(self) -> int:
        """The index of the selected answer."""
        return self._answers.cursor if self._answers is not None else 0

    # -- drawing

    def _draw(self, width: int) -> None:
        answers = self._answers
        if answers is None or width <= 0:
            return
        is_small = self.app.size.height < _SMALL_HEIGHT
        if (width, is_small) != self._drawn:
            self._drawn = width, is_small
            body = render_action(answers.question, self.text_styles, width, context=0 if is_small else 1, cwd=self._cwd)
            more = f"… and {len(body) - _MAX_LINES} more lines not shown"
            self._action_lines = [
                *body[:_MAX_LINES],
                *([self.text_styles.line((more, self.text_styles.warn))] if body[_MAX_LINES:] else []),
            ]
        self._body = [*self._action_lines, *answers.render_selected(self.text_styles, width)]
        self._options = answers.render(self.text_styles, width)
        effects = [answers.describe_effect(choice) for choice in answers.question.choices]
        self._reason_lines = min(max(len(wrap(each, max(width, 8))) for each in (*effects, "why")), _MAX_REASON_LINES)

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
        answers = self._answers
        if answers is None:
            return ""
        effect = answers.describe_effect(answers.selected) if answers.selected is not None else ""
        if effect:
            return one_line(effect, 1000)
        return one_line(f"Why you are asked: {answers.question.describe_reason(self._cwd)}", max(self.size.width, 8))

    # -- answering

    def on_key(self, event: events.Key) -> None:
        answers = self._answers
        if answers is None:
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
        elif (choice := answers.find(key)) is not None or answers.is_instead(key):
            self.accept_key(key)
            self._choose(choice)
        elif key == "enter":
            self.accept_key(key)
            self._choose(answers.selected)
        elif key == "t" and answers.can_be_shorter:
            self.accept_key(key)
            answers.change_length()
            self._draw(self.size.width)
            self.refresh()
        elif key in ("up", "down"):
            answers.move(1 if key == "down" else -1)
            self._draw(self.size.width)
            self.refresh(layout=True)  # an answer shown in full takes more lines
        elif key in ("pagedown", "pageup"):
            room = max(self._split_lines()[0] - 1, 1)
            self._at = max(0, min(self._at + (room if key == "pagedown" else -room), len(self._body) - room))
            self.refresh()

    def is_answer_key(self, key: str) -> bool:
        answers = self._answers
        if answers is None:
            return False
        return answers.find(key) is not None or answers.is_instead(key) or (key == "t" and answers.can_be_shorter)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)  # None on the border
        room, why, visible = self._split_lines()
        place = at.y - room - why if at is not None else -1
        is_more = place == visible - 1 and self._first_visible + visible < len(self._options)
        answers = self._answers
        if answers is not None and 0 <= place < visible and not is_more and not self._moment.comes_early():
            self._choose(answers[self._first_visible + place])

    def _choose(self, choice: Choice | None) -> None:
        """Answer the request; None lets the user say what to do instead, and keeps it open."""
        asked, answers = self._asked, self._answers
        if asked is None or answers is None:
            return
        if choice is None:
            self.post_message(self.InsteadWanted(asked))
            return
        self._asked = self._answers = None
        self.post_message(self.Answered(asked, answers.limit(choice)))

"""The question of the policy: what would happen, and numbered answers. It cannot be missed, and not be hit by accident.

Keys that were typed for the prompt must not answer it, so it takes no keys until the user has paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.conversation import diff as diffs
from accord.tui.plain import one_line, plain

if TYPE_CHECKING:
    from accord.policy.choices import Choice, Question
    from accord.tui.look import Look
    from accord.tui.talk import Asked

_VERBS = {"read": "read", "write": "write", "delete": "delete", "fetch": "fetch", "command": "run"}
_MOST_LINES = 4000


class PermissionPanel(Widget, can_focus=True):
    """Shows one question at a time; the others wait behind it."""

    DEFAULT_CSS = """
    PermissionPanel {
        height: auto; max-height: 75%; border: heavy $warning; padding: 0 1; background: $background;
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

    def __init__(self, look: Look, cwd: str) -> None:
        super().__init__()
        self.look = look
        self._cwd = cwd
        self._asked: Asked | None = None
        self._body: list[Strip] = []
        self._options: list[Strip] = []
        self._at = 0
        self._width = 0
        self.cursor = 0

    def show(self, waiting: list[Asked]) -> None:
        """Shows the first of those that wait."""
        asked = waiting[0]
        if asked is not self._asked:
            self._asked, self._at, self.cursor = asked, 0, 0
            self._width = 0
        more = f" (1 of {len(waiting)})" if len(waiting) > 1 else ""
        self.border_title = f"Permission needed{more}"
        self._say_keys(self.has_focus)
        self._draw(self.size.width or self.app.size.width - 4)
        self.refresh(layout=True)

    def _say_keys(self, is_mine: bool) -> None:
        self.border_subtitle = "number or ↑↓ and enter · esc stops the turn" if is_mine else "tab to answer"

    def on_focus(self) -> None:
        self._say_keys(True)

    def on_blur(self) -> None:
        self._say_keys(False)

    @property
    def question(self) -> Question | None:
        return self._asked.question if self._asked is not None else None

    # -- drawing

    def _draw(self, width: int) -> None:
        question = self.question
        if question is None or width <= 0:
            return
        if width != self._width:
            self._width = width
            self._body = self._what(question, width)[:_MOST_LINES]
        look = self.look
        self._options = []
        for number, choice in enumerate(question.choices, 1):
            letter = _LETTERS.get(choice.kind, "")
            letter = f" ({letter})" if letter and question.choice(choice.kind) is choice else ""
            style = look.good if choice.allows else look.bad
            pointer = "❯ " if number - 1 == self.cursor else "  "
            line = look.line(
                (pointer, look.accent),
                (f"{number}. ", look.strong),
                (one_line(choice.name, max(width - 12, 8)), style),
                (letter, look.dim),
                (_remembers(choice), look.dim),
            )
            self._options.append(line)

    def _what(self, question: Question, width: int) -> list[Strip]:
        look, action, request = self.look, question.action, question.request
        lines: list[Strip] = []
        if request is not None:
            lines += look.draw(Text(plain(request.title), style="bold"), width)
            if request.description:
                lines += look.draw(Text(plain(request.description)), width)
        else:
            verb = _VERBS.get(action.kind, one_line(action.kind))
            what = "this command" if action.line is not None else ", ".join(action.paths) or action.url or action.title
            lines += look.draw(Text(plain(f"The agent wants to {verb} {what}"), style="bold"), width)
        if action.line is not None:
            lines += look.draw(Text(plain(f"$ {action.line}"), style=look.accent), width)
            where = ", ".join([f"in {action.cwd}"] if action.cwd else [])
            with_ = " ".join(f"{name}={value}" for name, value in action.env)
            if where or with_:
                lines += look.draw(Text(plain(" ".join(filter(None, [where, with_]))), style=look.dim), width)
        if action.url:
            lines += look.draw(Text(plain(action.url), style=look.primary), width)
        if request is not None:
            changes = request.tool_call.diffs if request.tool_call is not None else []
            changed = {change.path for diff in changes for change in diff.changes}
            for path in action.paths:
                if path not in changed and self._short(path) not in request.title:
                    lines += look.draw(Text(plain(path), style=look.primary), width)
            for diff in changes:  # little around it: the change itself is to be seen first
                lines += diffs.draw(
                    diff, look, width, side_by_side=True, cwd=self._cwd, context=1, named=plain(request.title)
                )
        return lines

    def _short(self, path: str) -> str:
        return path.removeprefix(f"{self._cwd}/")

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        self._draw(width)
        return len(self._body) + len(self._options) + 1

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        room = max(height - len(self._options) - 1, 0)
        base = self.look.base
        if y < room:
            at = self._at + y
            line = self._body[at] if at < len(self._body) else self.look.line(("", None))
            if y == room - 1 and self._at + room < len(self._body):
                left = len(self._body) - self._at - room + 1
                line = self.look.line((f"⋯ {left} lines more: page down", self.look.warn))
        elif y == room:
            why = f"asked because {self.question.why}" if self.question is not None else ""
            line = self.look.line((one_line(why, max(width, 8)), self.look.dim))
        else:
            place = y - room - 1
            line = self._options[place] if place < len(self._options) else self.look.line(("", None))
        return line.adjust_cell_length(width, base)

    # -- answering

    def on_key(self, event: events.Key) -> None:
        question = self.question
        if question is None:
            return
        key = event.key
        if key in ("tab", "shift+tab", "ctrl+c", "f1") or key.startswith("ctrl+"):
            return  # for others
        event.stop()
        event.prevent_default()
        if key == "escape":
            self.post_message(self.Escaped())
        elif key.isdecimal() and 1 <= int(key) <= len(question.choices):
            self._choose(question.choices[int(key) - 1])
        elif key in _KINDS and (choice := question.choice(_KINDS[key])) is not None:
            self._choose(choice)
        elif key == "enter":
            self._choose(question.choices[self.cursor])
        elif key in ("up", "down"):
            self.cursor = (self.cursor + (1 if key == "down" else -1)) % max(len(question.choices), 1)
            self._draw(self.size.width)
            self.refresh()
        elif key in ("pagedown", "pageup"):
            room = max(self.size.height - len(self._options) - 2, 1)
            self._at = max(0, min(self._at + (room if key == "pagedown" else -room), len(self._body) - room))
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        question = self.question
        at = event.get_content_offset(self)  # within the border, which is no answer
        place = at.y - max(self.size.height - len(self._options), 0) if at is not None else -1
        if question is not None and 0 <= place < len(question.choices):
            self._choose(question.choices[place])

    def _choose(self, choice: Choice) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            self.post_message(self.Answered(asked, choice))


_LETTERS = {"allow_once": "y", "reject_once": "n", "allow_always": "a"}
_KINDS = {"y": "allow_once", "n": "reject_once", "a": "allow_always"}


def _remembers(choice: Choice) -> str:
    from accord.policy.text import conditions

    if not choice.rules or choice.scope == "once":
        return ""
    rules = "; ".join(one_line(conditions(rule), 80) for rule in choice.rules)
    return f"  remembers{' for this session' if choice.scope == 'session' else ''}: {rules}"

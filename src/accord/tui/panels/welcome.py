"""The welcome above a session without messages: what runs here, what to try, and how to add a model or an agent.

Its suggestions go into the prompt: Enter takes the first, a digit any, while the prompt is empty."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.text import truncate, truncate_path
from accord.version import __version__

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.prompt.area import PromptArea
    from accord.tui.theme import TextStyles

OFFLINE = "offline"
"""The id of the built-in agent's offline model."""
FOR_A_MODEL = (
    "What is this project, and how do I run it?",
    "Run the tests and fix what fails",
    "Review my uncommitted changes",
)
FOR_THE_DEMO = ("What is this project?", "Run the tests", "Find TODO")
FOR_AN_EMPTY_DIRECTORY = (
    "Create a small Python project with a test",
    "Write a README with a short plan",
    "What can you do?",
)
KEYS = "/ commands · @ files · ! shell · ? keys"
_KEYS_SHORT = "/ commands · @ files · ? keys"


class Facts(NamedTuple):
    """The content of the welcome: the agent, the directory, and the model."""

    agent: str
    directory: str
    branch: str = ""
    model: str = ""
    """The model's name, if the agent has a choice of models."""
    is_demo: bool = False
    """Whether the built-in agent runs without a language model."""
    is_empty: bool = False
    """Whether the directory has no files."""
    has_keys: bool = False
    """Whether a line at the bottom of the screen shows the keys."""

    @property
    def suggestions(self) -> Sequence[str]:
        if self.is_demo:
            return FOR_THE_DEMO
        return FOR_AN_EMPTY_DIRECTORY if self.is_empty else FOR_A_MODEL


class Welcome(Widget):
    """Draws the facts and the suggestions, in as many lines as there is room for."""

    DEFAULT_CSS: ClassVar[str] = "Welcome { height: auto; padding: 0 2; }"

    class Chosen(Message):
        """The user chose a suggestion."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text_styles: TextStyles, facts: Facts, prompt: PromptArea) -> None:
        super().__init__()
        self._prompt = prompt
        self.text_styles = text_styles
        self._facts = facts
        self._rows: list[Row] = []

    @property
    def facts(self) -> Facts:
        return self._facts

    @facts.setter
    def facts(self, facts: Facts) -> None:
        if facts != self._facts:
            self._facts = facts
            self._update()

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = text_styles
        self._update()

    def make_room(self) -> None:
        """Take fewer lines while the prompt needs more, or it would be pushed out of a low window."""
        if self.size.width and len(self._lay_out(self.size.width)) != len(self._rows):
            self._update()

    def _update(self) -> None:
        # Textual may paint before it lays out again, and doesn't paint twice if the size stays the same.
        if self.size.width:
            self._rows = self._lay_out(self.size.width)
        self.refresh(layout=True)

    def _lay_out(self, width: int) -> list[Row]:
        # The prompt and the status line take four lines, header and keys two; notices get at least two.
        fixed = 6 + (2 if self._facts.has_keys else 0)
        return lay_out(self._facts, self.text_styles, width, self.app.size.height - fixed - self._prompt.extra_height)

    def suggestion(self, number: int) -> str | None:
        """Return a suggestion by its number, from 1."""
        listed = self._facts.suggestions
        return listed[number - 1] if 1 <= number <= len(listed) else None

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        self._rows = self._lay_out(width)
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        parts = self._rows[y].parts if y < len(self._rows) else []
        return self.text_styles.line(*parts).adjust_cell_length(self.size.width, self.text_styles.base)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        chosen = self._rows[at.y].suggestion if at is not None and at.y < len(self._rows) else ""
        if chosen:
            self.post_message(self.Chosen(chosen))


class Row(NamedTuple):
    """A line of the welcome."""

    parts: list[tuple[str, Style | None]]
    rank: int = 0
    """Lines with the highest rank go first when there isn't room for all."""
    suggestion: str = ""


def lay_out(facts: Facts, text_styles: TextStyles, width: int, height: int) -> list[Row]:
    """Return the lines for a width, leaving out the less important ones if the window is low."""
    dim, accent = text_styles.dim, text_styles.accent

    def line(*parts: tuple[str, Style | None], rank: int = 0) -> Row:
        return Row(list(parts), rank)

    branch = truncate(facts.branch, max(width // 2, 8))
    place = truncate_path(facts.directory, max(width - cell_len(branch) - 3, 12))
    rows = [
        line(rank=5),
        line(("Accord", text_styles.accent + text_styles.strong), (f" {__version__}", dim)),
        line((place, None), (f" · {branch}" if branch else "", dim), rank=1),
        *(Row(parts, 0) for parts in _describe_agent(facts, text_styles, width)),
        line(rank=4),
    ]
    for number, text in enumerate(facts.suggestions, 1):
        words = [(f"{number} ", accent), (truncate(text, width - 2), None)]
        rows.append(Row([*words], 0 if number == 1 else 2, text))
    rows += [
        line((truncate("Enter or a number puts one into the prompt.", width), dim), rank=3),
        line(rank=4),
        *(line((each, dim), rank=1) for each in _how_to_add(facts, width)),
        *([] if facts.has_keys else [line((KEYS if len(KEYS) <= width else truncate(_KEYS_SHORT, width), dim))]),
        line(rank=6),
    ]
    while len(rows) > max(height, 3) and (most := max(row.rank for row in rows)):
        place_of_last = max(at for at, row in enumerate(rows) if row.rank == most)
        del rows[place_of_last]
    return rows[: max(height, 3)]


def _describe_agent(facts: Facts, text_styles: TextStyles, width: int) -> list[list[tuple[str, Style | None]]]:
    """Return the agent and its model."""
    if facts.is_demo:
        words = "Offline demo: no model is set up, so only simple requests work."
        if len(words) > width:
            words = "Offline demo: no model is set up."
        return [[(truncate(words, width), text_styles.warn)]]
    model = f" · {facts.model}" if facts.model else ""
    return [[(truncate(f"{facts.agent}{model}", width), None)]]


def _how_to_add(facts: Facts, width: int) -> list[str]:
    """Return how to add a model or another agent."""
    other = "/agent uses Claude Code, Codex, Gemini and others"
    model = "/login adds a model" if facts.is_demo else "/model changes the model" if facts.model else ""
    together = " · ".join(filter(None, (model, other)))
    if len(together) <= width:
        return [together]
    return [each for each in (model, other if len(other) <= width else "/agent uses another agent") if each]


def shorten_home(path: Path) -> str:
    """Abbreviate the home directory as a tilde."""
    try:
        inside = path.relative_to(Path.home())
        return one_line(f"~/{inside}" if inside.parts else "~", 1000)
    except (ValueError, RuntimeError):
        return one_line(str(path), 1000)

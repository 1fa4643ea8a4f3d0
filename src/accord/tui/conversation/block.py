"""A block draws one item of the timeline. This is what all blocks have in common, and what they may know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from accord.model.session import Subagent
    from accord.model.tool import ExitStatus, ToolCall
    from accord.tui.conversation.passages import Gap
    from accord.tui.conversation.picture import Gallery
    from accord.tui.look import Look

GUTTER = 2
"""Columns at the left of every line: a bar that says whose words these are, and a space."""
UNTOLD, UNTOLD_MARK = "no end told", "◇"
"""What is said of a tool call or a subagent that nothing is at any more, and that the agent never ended."""
EDGE, MIDDLE = Style(meta={"edge": "side"}), Style(meta={"edge": "middle"})
"""What stands beside words and is none, or between two columns of them: it is not copied with them."""


def edge_of(segment: Segment) -> str:
    """Whether a part of a line stands at the side of words, or in the middle; nothing when it is words."""
    return str(segment.style.meta.get("edge", "")) if segment.style is not None else ""


class Printed(NamedTuple):
    """What a terminal shows: its text, whether the beginning is missing, and how its command ended if it has."""

    text: str
    is_cut: bool
    exit: ExitStatus | None
    command: str | None = None
    skipped: int = 0
    """How many lines there are before the text."""
    goes_on: bool = False
    """Whether the command is known to run still, whatever became of the tool call that began it."""


class Span(NamedTuple):
    """When a tool call was first heard of, and when it ended if it has."""

    begun: float
    ended: float | None = None
    asked: float | None = None
    """Since when the user is asked about it, if so: the clock stands meanwhile."""
    left: float | None = None
    """When it was left without an end, if it was."""

    def seconds(self, now: float) -> float:
        """How long it has taken, without what the user took to answer."""
        return next(each for each in (self.ended, self.left, self.asked, now) if each is not None) - self.begun


@dataclass
class Setting:
    """What blocks may know besides their item."""

    look: Look
    width: int = 80
    """Columns for the body of a block: the gutter and the scroll bar are taken off."""
    cwd: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict)
    now: Callable[[], float] = lambda: 0.0
    terminal: Callable[[str], Printed | None] = lambda id: None
    """All that a terminal printed."""
    terminal_end: Callable[[str], Printed | None] | None = None
    """The same, or only the last of it, which is quicker."""
    stop_hint: Callable[[ToolCall | Subagent], str] = lambda item: ""
    """What to say of stopping a tool call or a subagent; nothing when it cannot be stopped."""
    untold: Callable[[ToolCall | Subagent], bool] = lambda item: False
    """Whether a tool call or a subagent was left without an end: nothing is at it, and how it ended was not told."""
    letters: Callable[[Subagent], list[tuple[bool, str]]] = lambda child: []
    """What was written to a subagent (true) and by it."""
    chosen: tuple[str, str] | None = None
    """The item that is selected, by its key."""
    side_by_side: bool = True
    """Whether changes are shown with old and new beside each other where there is room."""
    pictures: Gallery | None = None
    """Draws pictures; without it they are named."""
    says_who: bool = False
    """Whether it is said in words who speaks, for those who have the screen read."""
    at_end: bool = True
    """Whether the end of the conversation is looked at: then the end of a long message comes first."""


class Block(ABC):
    """The lines of one item. They are made when `lines` is read first, and again after `touch`."""

    gap = 1
    """Blank lines above it."""
    speaker = ""
    """Whose words these are, where that is said in words."""

    def __init__(self, setting: Setting, is_open: bool | None = None) -> None:
        self.setting = setting
        self.is_open = is_open
        """Whether it shows all it has: as the user said, or None for as it comes."""
        self.behind = False
        """Whether there is more to draw than was drawn in one go."""
        self.is_cut = False
        """Whether even when it is opened there is more, to be seen in the editor only."""
        self.left_out: Gap | None = None
        """What was passed over in the middle of it."""
        self._lines: list[Strip] = []
        self._touched = True

    @property
    def lines(self) -> list[Strip]:
        if self._touched:
            self._touched = False
            try:
                self._lines = self.drawn(self._lines)
            except Exception as error:  # one item that cannot be drawn must not take the others with it
                self.behind = False
                self._lines = [self.look.line((f"  this cannot be drawn: {error!r}"[:200], self.look.bad))]
        return self._lines

    @property
    def size(self) -> int:
        """How many lines were drawn."""
        return len(self._lines)

    def fill(self, *, from_end: bool) -> int:
        """Draws some of what was passed over, next to what follows it or to what is before it. Gives by how many
        lines there are more above what follows it."""
        return 0

    def begin_at(self, share: float) -> int | None:
        """Draws from the middle on, when nothing was drawn yet. Gives the line that is there; None when it does not."""
        return None

    def share_at(self, row: int) -> float:
        """Which part of it is above a line, from 0 to 1."""
        return row / max(self.size, 1)

    def touch(self) -> None:
        """Says that the item has changed."""
        self._touched = True

    @property
    def ticks(self) -> bool:
        """Whether it changes as time goes by."""
        return False

    @property
    def can_open(self) -> bool:
        """Whether there is more to be seen than is shown."""
        return False

    @abstractmethod
    def drawn(self, before: list[Strip]) -> list[Strip]:
        """The lines as they are now; `before` is what they were, to be gone on from."""

    @abstractmethod
    def text(self) -> str:
        """What is copied when this block is copied."""

    def whole(self) -> str:
        """All there is, for the user's editor."""
        return self.text()

    # -- for those who draw

    @property
    def look(self) -> Look:
        return self.setting.look

    @property
    def width(self) -> int:
        return self.setting.width

    def margin(self, lines: list[Strip], bar: str = " ", style: Style | None = None) -> list[Strip]:
        """The lines with the bar at their left."""
        edge = Segment(f"{bar} ", self.look.base + (style or self.look.faint) + EDGE)
        return [Strip([edge, *line]) for line in lines]

    def blank(self) -> list[Strip]:
        """The gap above; it says who speaks, where that is wanted."""
        if self.setting.says_who and self.speaker and self.gap:
            return [Strip([Segment(f"{'':{GUTTER}}{self.speaker}", self.look.base + self.look.strong + EDGE)])]
        return [self.look.line(("", None))] * self.gap

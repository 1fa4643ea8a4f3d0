"""Base of all blocks. A block renders one item of the timeline; `BlockContext` is everything else it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from accord.model.session import Subagent
    from accord.model.tool import ToolCall
    from accord.transcript.timing import Span
    from accord.tui.agent.workspace import CommandOutput
    from accord.tui.theme import TextStyles
    from accord.tui.transcript.blocks.long_text import SkippedPart
    from accord.tui.transcript.images.gallery import Gallery

GUTTER = 2
"""Columns at the left of every line: a bar whose color shows the speaker, and a space."""
NO_RESULT_MARK = "◇"
"""Mark of a tool call or subagent that no longer runs, although the agent never reported its end."""
EDGE, MIDDLE = Style(meta={"edge": "side"}), Style(meta={"edge": "middle"})
"""Styles that mark decoration at the side of text, or between two columns: it isn't copied with the text."""


def edge_of(segment: Segment) -> str:
    """Return `side` or `middle` for decoration, and an empty string for text."""
    return str(segment.style.meta.get("edge", "")) if segment.style is not None else ""


@dataclass
class BlockContext:
    """Everything a block needs besides its item: the theme, the width, and callbacks to the session."""

    text_styles: TextStyles
    width: int = 80
    """Columns for the body of a block, without the gutter and the scroll bar."""
    cwd: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict)
    now: Callable[[], float] = lambda: 0.0
    terminal: Callable[[str], CommandOutput | None] = lambda id: None
    """The complete output of a terminal."""
    terminal_end: Callable[[str], CommandOutput | None] | None = None
    """The end of a terminal's output, which is faster to get."""
    stop_hint: Callable[[ToolCall | Subagent], str] = lambda item: ""
    """The key hint for stopping a tool call or a subagent; empty when it can't be stopped."""
    is_unfinished: Callable[[ToolCall | Subagent], bool] = lambda item: False
    """Whether a tool call or a subagent no longer runs, although the agent never reported its end."""
    subagent_messages: Callable[[Subagent], list[tuple[bool, str]]] = lambda child: []
    """The messages to a subagent (True) and from it (False)."""
    chosen: tuple[str, str] | None = None
    """The key of the selected item."""
    side_by_side: bool = True
    """Whether diffs are shown side by side if there is room."""
    gallery: Gallery | None = None
    """Renders images; without it, only their names are shown."""
    names_speakers: bool = False
    """Whether each message names its speaker, for screen readers."""
    at_end: bool = True
    """Whether the view is at the end: then the end of a long message is rendered first."""


class Block(ABC):
    """The lines of one item, rendered when `lines` is first read, and again after `touch`."""

    gap: int = 1
    """Blank lines above the block."""
    speaker = ""
    """The speaker, named in screen reader mode."""

    def __init__(self, context: BlockContext, is_open: bool | None = None) -> None:
        self.context = context
        self.is_open = is_open
        """Whether the user opened or folded it; None for the default."""
        self.behind: bool = False
        """Whether there is more to render than fitted into one frame."""
        self.is_truncated: bool = False
        """Whether it is truncated even when open; the editor shows the rest."""
        self.skipped_part: SkippedPart | None = None
        """The skipped middle part, rendered on demand."""
        self._lines: list[Strip] = []
        self._touched = True

    @property
    def lines(self) -> list[Strip]:
        if self._touched:
            self._touched = False
            try:
                self._lines = self.render(self._lines)
            except Exception as error:  # one broken item must not break the whole view
                self.behind = False
                self._lines = [
                    self.text_styles.line((f"  couldn't render this: {error!r}"[:200], self.text_styles.bad))
                ]
        return self._lines

    @property
    def size(self) -> int:
        """The number of rendered lines."""
        return len(self._lines)

    def fill(self, *, from_end: bool) -> int:
        """Render some of the skipped part, next to the text after it (`from_end`) or before it. Return how many lines
        were added above the text after it."""
        return 0

    def begin_at(self, share: float) -> int | None:
        """Start rendering in the middle of a long block. Return its first line; None if not supported."""
        return None

    def share_at(self, row: int) -> float:
        """Return the share of the block above a line, from 0 to 1."""
        return row / max(self.size, 1)

    def touch(self) -> None:
        """Render again when the lines are next read."""
        self._touched = True

    @property
    def ticks(self) -> bool:
        """Whether it shows elapsed time."""
        return False

    @property
    def can_open(self) -> bool:
        """Whether opening it shows more."""
        return False

    @abstractmethod
    def render(self, before: list[Strip]) -> list[Strip]:
        """Render the lines; `before` are those of the last time, to continue from."""

    @abstractmethod
    def text(self) -> str:
        """Return the text to copy."""

    def whole(self) -> str:
        """Return the complete text, for the user's editor."""
        return self.text()

    # -- for subclasses

    @property
    def text_styles(self) -> TextStyles:
        return self.context.text_styles

    @property
    def width(self) -> int:
        return self.context.width

    def margin(self, lines: list[Strip], bar: str = " ", style: Style | None = None) -> list[Strip]:
        """Add the gutter to lines."""
        edge = Segment(f"{bar} ", self.text_styles.base + (style or self.text_styles.faint) + EDGE)
        return [Strip([edge, *line]) for line in lines]

    def blank(self) -> list[Strip]:
        """Return the gap above; in screen reader mode it names the speaker."""
        if self.context.names_speakers and self.speaker and self.gap:
            return [
                Strip([Segment(f"{'':{GUTTER}}{self.speaker}", self.text_styles.base + self.text_styles.strong + EDGE)])
            ]
        return [self.text_styles.line(("", None))] * self.gap

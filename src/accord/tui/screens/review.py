"""Review of changes and plans: select lines, comment on them, and send all comments as one prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from accord.tui.errors import run_in_background
from accord.tui.screens.hints import BETWEEN
from accord.tui.screens.modal import Modal
from accord.tui.session.review import Comment, ReviewLine
from accord.tui.text import make_label, truncate
from accord.tui.theme import TextStyles
from accord.tui.transcript.blocks.diff import highlight, mark_words

SEND = "send"


class ReviewList(ScrollView, can_focus=True):
    """The lines, with a cursor, a selection, and the comments below the lines that they are about."""

    DEFAULT_CSS: ClassVar[str] = "ReviewList { height: 1fr; background: $background; }"

    def __init__(self, lines: Sequence[ReviewLine], comments: list[Comment], text_styles: TextStyles) -> None:
        super().__init__()
        self.lines: list[ReviewLine] = list(lines)
        self.comments = comments
        self._text_styles = text_styles
        self.cursor: int = next((at for at, line in enumerate(self.lines) if line.can_have_comment), 0)
        self.start: int | None = None
        """The other end of the selection."""
        self._rows: list[tuple[int, Comment | None]] = []
        """The line, and the comment to show instead of it."""
        self._texts: dict[int, Text] = {}
        """The lines of the files that were drawn, highlighted."""
        self.refresh_rows()

    @property
    def selection(self) -> tuple[int, int]:
        """The first and the last selected line."""
        other = self.cursor if self.start is None else self.start
        return min(self.cursor, other), max(self.cursor, other)

    def refresh_rows(self) -> None:
        """List the lines again, after comments have changed."""
        self._rows = []
        for at in range(len(self.lines)):
            self._rows.append((at, None))
            self._rows += [(at, each) for each in self.comments if each.last == at]
        self.virtual_size = Size(0, len(self._rows))
        self.refresh()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._rows))

    # -- moving

    def move(self, by: int, *, extends: bool = False) -> None:
        """Move the cursor by lines that can have comments; with `extends`, the selection grows within one file."""
        step, at = (1 if by > 0 else -1), self.cursor
        for _ in range(abs(by)):
            following = at + step
            while 0 <= following < len(self.lines) and not self.lines[following].can_have_comment:
                following += step
            if not 0 <= following < len(self.lines):
                break
            at = following
        is_selecting = extends or self.start is not None
        if is_selecting and self.lines and self.lines[at].file != self.lines[self.cursor].file:
            return
        if extends and self.start is None:
            self.start = self.cursor
        self._go(at)

    def go_to_file(self, by: int) -> None:
        """Go to the first line of the next or the previous file."""
        self.start = None
        headings = [at for at, line in enumerate(self.lines) if line.sign == "#"]
        current = max((place for place, at in enumerate(headings) if at <= self.cursor), default=0)
        if headings:
            at = headings[max(0, min(current + by, len(headings) - 1))]
            self._go(next((each for each in range(at, len(self.lines)) if self.lines[each].can_have_comment), at))

    def go_to(self, file: str) -> None:
        """Go to the first line of a file."""
        found = (at for at, line in enumerate(self.lines) if line.can_have_comment and line.file == file)
        self._go(next(found, self.cursor))

    def _go(self, at: int) -> None:
        self.cursor = at
        row = next((place for place, (line, comment) in enumerate(self._rows) if line == at and comment is None), 0)
        self.scroll_to_region(Region(0, max(row - 1, 0), 1, 3), animate=False, force=True)
        self.refresh()

    # -- drawing

    def render_line(self, y: int) -> Strip:
        styles, width = self._text_styles, self.size.width
        row = y + self.scroll_offset.y
        if row >= len(self._rows):
            return Strip.blank(width, styles.base)
        at, comment = self._rows[row]
        if comment is not None:
            words = truncate(f"      ▸ {comment.text}", max(width - 1, 1))
            return styles.line((f"      ▸ {words[2:]}", styles.accent)).adjust_cell_length(width, styles.base)
        line = self.lines[at]
        first, last = self.selection
        is_selected = first <= at <= last and line.can_have_comment
        mark = "❯" if at == self.cursor else "│" if is_selected else " "
        strip = self._draw(at, mark, width)
        if is_selected and self.start is not None:
            strip = Strip([Segment(part.text, (part.style or styles.base) + styles.said) for part in strip])
        return strip.adjust_cell_length(width, styles.base)

    def _draw(self, at: int, mark: str, width: int) -> Strip:
        styles, line = self._text_styles, self.lines[at]
        if line.sign == "#":
            return styles.line((truncate(f"{line.text}", width), styles.strong))
        if line.sign == "@":
            return styles.line((f"       ⋯ {truncate(line.text, max(width - 9, 1))}", styles.dim))
        text, ground = mark_words(self._highlight(at), line.sign, line.marks, styles)
        text.expand_tabs(4)
        style = styles.base if ground is None else styles.base + ground
        edge = styles.line(
            (f"{mark} ", styles.accent),
            (f"{line.number or '':>4} ", styles.dim),
            (f"{line.sign} ", style),
        )
        room = max(width - edge.cell_length, 1)
        text.truncate(room, overflow="ellipsis")
        body = Strip(Segment.apply_style(text.render(styles.console), style))
        return Strip.join([edge, body.adjust_cell_length(room, style)])

    def _highlight(self, at: int) -> Text:
        """Return a line in the colors of its language. They depend on the lines above it in the same file."""
        if at not in self._texts:
            start = next((each + 1 for each in range(at, -1, -1) if self.lines[each].sign == "#"), 0)
            end = next((each for each in range(at, len(self.lines)) if self.lines[each].sign == "#"), len(self.lines))
            file = self.lines[start:end]
            painted = highlight([each.text for each in file], self.lines[at].file, self._text_styles)
            self._texts.update(enumerate(painted, start))
        return self._texts[at]


class ReviewScreen(Modal["str | None"]):
    """Returns `send` if the comments are to be sent. They stay in the given list in any case."""

    DEFAULT_CSS: ClassVar[str] = """
    ReviewScreen { align: center middle; }
    ReviewScreen > Vertical {
        width: 100%; height: 100%; border: round $primary; padding: 0 1; background: $background;
    }
    ReviewScreen .empty { color: $foreground 60%; height: 1fr; }
    """

    def __init__(
        self,
        title: str,
        lines: Sequence[ReviewLine],
        comments: list[Comment],
        text_styles: TextStyles,
        empty: str,
        file: str = "",
    ) -> None:
        """`empty` is the text if there are no lines; `file` is where the cursor begins."""
        super().__init__()
        self._title = title
        self._lines = list(lines)
        self._comments = comments
        self._text_styles = text_styles
        self._empty = empty
        self._file = file

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = make_label(self._title)
            if self._lines:
                yield ReviewList(self._lines, self._comments, self._text_styles)
            else:
                yield Static(Text(self._empty), classes="empty")

    @property
    def key_hints(self) -> Sequence[str]:
        if not self._lines:
            return ("esc back",)
        count = len(self._comments)
        send, short = (f"s send {_count(count)}", f"s send {count}") if count else ("s send", "s send")
        return (
            BETWEEN.join(
                ("↑ ↓ move", "shift+↑ ↓ or v select", "enter comment", "d delete it", "n p file", send, "esc back")
            ),
            BETWEEN.join(("↑↓", "v select", "enter comment", "d delete", "n p file", short, "esc back")),
            BETWEEN.join(("v select", "enter comment", short, "esc back")),
            BETWEEN.join(("enter comment", short, "esc")),
        )

    @property
    def box_width(self) -> int:
        return self.app.size.width

    def on_mount(self) -> None:
        if self._lines:
            listing = self.query_one(ReviewList)
            listing.focus()
            if self._file:
                self.call_after_refresh(listing.go_to, self._file)

    def on_key(self, event: events.Key) -> None:
        key = event.key
        if key in ("escape", "q"):
            self._leave()
        elif not self._lines or not self._act(key):
            return
        event.stop()
        event.prevent_default()

    def _leave(self) -> None:
        listing = self.query_one(ReviewList) if self._lines else None
        if listing is not None and listing.start is not None:
            listing.start = None
            listing.refresh()
        else:
            self.dismiss(None)

    def _act(self, key: str) -> bool:
        listing = self.query_one(ReviewList)
        page = max(listing.size.height - 2, 1)
        moves = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -page, "pagedown": page}
        if key in moves:
            listing.move(moves[key])
        elif key in ("shift+up", "shift+down", "K", "J"):
            listing.move(-1 if key in ("shift+up", "K") else 1, extends=True)
        elif key in ("home", "end"):
            listing.move(-len(self._lines) if key == "home" else len(self._lines))
        elif key in ("n", "p"):
            listing.go_to_file(1 if key == "n" else -1)
        elif key in ("v", "space"):
            listing.start = listing.cursor if listing.start is None else None
            listing.refresh()
        elif key in ("enter", "c"):
            run_in_background(self, self._comment(), exclusive=True)
        elif key in ("d", "delete"):
            self._delete()
        elif key in ("s", "ctrl+s"):
            if self._comments:
                self.dismiss(SEND)
            else:
                self.app.notify("Select lines and press Enter to comment on them first.")
        else:
            return False
        return True

    async def _comment(self) -> None:
        from accord.tui.screens.picker import LineInputScreen

        listing = self.query_one(ReviewList)
        first, last = listing.selection
        lines = tuple(line for line in listing.lines[first : last + 1] if line.can_have_comment)
        if not lines:
            return
        before = next((each for each in self._comments if (each.first, each.last) == (first, last)), None)
        draft = Comment(first, last, lines, "")
        screen = LineInputScreen(f"Comment on {draft.place}", before.text if before is not None else "")
        text = await self.app.push_screen_wait(screen)
        if text is None:
            return
        if before is not None:
            self._comments.remove(before)
        if text.strip():
            self._comments.append(draft._replace(text=text.strip()))
        listing.start = None
        self._show_comments()

    def _delete(self) -> None:
        """Delete the comment on the line at the cursor."""
        at = self.query_one(ReviewList).cursor
        found = [each for each in self._comments if each.first <= at <= each.last]
        if found:
            self._comments.remove(found[-1])
            self._show_comments()

    def _show_comments(self) -> None:
        self.query_one(ReviewList).refresh_rows()
        self.say_keys()


def _count(comments: int) -> str:
    return "1 comment" if comments == 1 else f"{comments} comments"

"""The transcript view: a widget that shows a session's transcript, and lets the user scroll, open, select and copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.selection import SELECT_ALL, Selection
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.greeting import FAILED
from accord.tui.terminal.scrollbar import THUMB
from accord.tui.transcript.blocks.attachment import images_of
from accord.tui.transcript.blocks.base import GUTTER, Block, BlockContext
from accord.tui.transcript.blocks.factory import Key, key_of
from accord.tui.transcript.images.gallery import Gallery
from accord.tui.transcript.images.support import ImageSupport, detect_support
from accord.tui.transcript.layout import Layout
from accord.tui.transcript.mouse_selection import MouseSelection

if TYPE_CHECKING:
    from accord.model.content import Image
    from accord.transcript.snapshot import TimelineItem
    from accord.transcript.transcript import Transcript
    from accord.tui.app import AccordApp
    from accord.tui.theme import TextStyles

_WHEEL_LINES = 3
_FRAME_SECONDS = 0.05
_SHOWS_HINTS = ("tool", "subagent")
"""Kinds of items that show more while they are selected."""


class TranscriptView(Widget, can_focus=True):
    """Shows a transcript. `update_items` takes what changed; `cursor` is the selected item.

    Three collaborators do the work: `timeline_layout` decides which lines are visible, `mouse_selection` selects text,
    and `images` renders images and sends them to the terminal."""

    DEFAULT_CSS: ClassVar[str] = """
    TranscriptView { height: 1fr; width: 1fr; background: $background; color: $foreground; }
    """

    ALLOW_SELECT: ClassVar[bool] = False  # Textual's own text selection; see mouse_selection.py
    FOCUS_ON_CLICK: ClassVar[bool] = False  # after a click, the user continues typing in the prompt

    app: AccordApp

    class Following(Message):
        """The view started or stopped following new output."""

    class Opened(Message):
        """The user wants to open an item in the editor: its location in a file, or its text."""

        def __init__(self, item: TimelineItem, block: Block) -> None:
            super().__init__()
            self.item = item
            self.block = block

    class Entered(Message):
        """The user wants to open an item that has a transcript itself: a subagent's session."""

        def __init__(self, item: TimelineItem) -> None:
            super().__init__()
            self.item = item

    class Stopped(Message):
        """The user wants to stop the selected item; None when nothing is selected."""

        def __init__(self, item: TimelineItem | None) -> None:
            super().__init__()
            self.item = item

    class ReviewWanted(Message):
        """The user wants to comment on changes; `item` is the selected one, if any."""

        def __init__(self, item: TimelineItem | None) -> None:
            super().__init__()
            self.item = item

    class Copied(Message):
        """The user wants to copy this text to the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The user wants to return to the prompt. `character` is what they typed, if it belongs there."""

        def __init__(self, key: str = "", character: str = "") -> None:
            super().__init__()
            self.key = key
            self.character = character

    def __init__(self, context: BlockContext, **options: Any) -> None:
        super().__init__(**options)
        self.context = context
        self.timeline_layout: Layout = Layout(context)
        self.mouse_selection: MouseSelection = MouseSelection(self)
        self.images: Gallery = Gallery(self._image_support, self.app.image_uploads, self._images_rendered)
        context.gallery = self.images
        self.empty_text: list[str] = []
        """Shown while the transcript is empty."""
        self.transcript: Transcript | None = None
        self._cursor: int | None = None
        self._are_all_open = False
        self._is_leaving = False
        self._before_click: tuple[int, bool | None, bool, tuple[int, int]] | None = None
        self._reported_following = True
        self._frame_pending = False
        self._thumb = (0, 0)
        self._selected_cells: dict[int, tuple[int, int]] = {}
        # Lines as painted in this frame and the one before; see render_lines.
        self._painted: dict[tuple[int, str, bool, tuple[int, int] | None], tuple[Strip, Strip]] = {}
        self._painted_before = self._painted

    def on_mount(self) -> None:
        # Another program that had the terminal in the meantime may have removed our images.
        self.app.app_resume_signal.subscribe(self, lambda _: self.images.forget())

    def on_unmount(self) -> None:
        self.images.close()

    # -- content

    def show(self, transcript: Transcript) -> None:
        """Show another transcript, from its end."""
        self.transcript = transcript
        self.mouse_selection.clear()
        self.cursor = None
        self.timeline_layout.show(transcript)
        self.refresh()

    def update_items(self, changed: Iterable[Key]) -> bool:
        """Render new and changed items. Return whether there is more to render than fits into one frame."""
        is_behind = self.timeline_layout.update(changed)
        self.refresh()
        self._report_following()
        return is_behind

    def tick(self) -> None:
        """Update the elapsed times that are visible."""
        if self.timeline_layout.tick():
            self.refresh()

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.context.text_styles = text_styles
        self.redraw()

    def redraw(self) -> None:
        """Render everything again."""
        self.timeline_layout.invalidate()
        self._compose_again()

    def _compose_again(self) -> None:
        self._painted.clear()
        self.timeline_layout.compose()
        self._repaint()

    def _repaint(self) -> None:
        """Paint after scrolling or folding. What doesn't fit into this frame follows in the next."""
        self.refresh()
        self._report_following()
        if self.timeline_layout.is_behind and not self._frame_pending:
            self._frame_pending = True
            self.set_timer(_FRAME_SECONDS, self._render_next_frame)

    def _render_next_frame(self) -> None:
        self._frame_pending = False
        self.timeline_layout.update(())
        self._repaint()

    def _report_following(self) -> None:
        if self._reported_following != self.timeline_layout.following:
            self._reported_following = self.timeline_layout.following
            self.post_message(self.Following())

    # -- images

    def _image_support(self) -> ImageSupport:
        is_off = self.app.no_color or self.app.is_calm
        return detect_support("off" if is_off else self.app.preferences.images, self.app.console.color_system)

    def _images_rendered(self, blocks: set[Block]) -> None:
        self.timeline_layout.redraw(blocks)
        self._repaint()

    def _view_images(self, images: list[Image]) -> None:
        if images:
            run_in_background(self, self._open_images(images))
        else:
            self.app.notify("No image here.")

    async def _open_images(self, images: list[Image]) -> None:
        from accord.tui.terminal.viewer import show

        self.app.notify(await asyncio.to_thread(show, images))

    # -- painting

    def render_line(self, y: int) -> Strip:
        text_styles, width, visible = self.context.text_styles, self.size.width, self.timeline_layout.visible_lines
        if y >= len(visible):
            return self._render_empty_text(y) if not visible else Strip.blank(width, text_styles.base)
        line, index = visible[y]
        start, size = self._thumb
        bar = THUMB if start <= y < start + size else " "
        is_selected = index == self._cursor and self.has_focus
        span = self._selected_cells.get(y)
        key = (id(line), bar, is_selected, span)
        painted = self._painted.get(key) or self._painted_before.get(key)
        if painted is None or painted[0] is not line:  # an id may be reused by another object
            finished = self._finish_line(line, bar, is_selected, width)
            painted = (line, finished if span is None else self.mouse_selection.highlight(finished, span))
        self._painted[key] = painted
        return painted[1]

    def _render_empty_text(self, y: int) -> Strip:
        text_styles, width = self.context.text_styles, self.size.width
        text = self.empty_text[y] if y < len(self.empty_text) else ""
        has_failed = any(each.startswith(FAILED) for each in self.empty_text)
        style = text_styles.bad if text.startswith(FAILED) else None if has_failed else text_styles.dim
        line = text_styles.line((f"  {one_line(text, max(width - 3, 1))}", style))
        return line.adjust_cell_length(width, text_styles.base)

    def _finish_line(self, line: Strip, bar: str, is_selected: bool, width: int) -> Strip:
        """Add the scroll bar and, for the selected item, the cursor."""
        text_styles = self.context.text_styles
        line = line.adjust_cell_length(width - 1, text_styles.base)
        if is_selected:
            line = Strip([Segment("▐", text_styles.base + text_styles.accent), *line.crop(1, width - 1)], width - 1)
        return Strip([*line, Segment(bar, text_styles.base + text_styles.faint)], width)

    def render_lines(self, crop: Region) -> list[Strip]:
        # Unchanged lines must be the same Strip objects as in the frame before: Textual then reuses their escape
        # sequences. They have their colors and fill the width, so Textual's own line styling is skipped.
        self._painted_before, self._painted = self._painted, {}
        self._thumb = self.timeline_layout.scrollbar()
        self._selected_cells = self.mouse_selection.cells()
        lines = [self.render_line(row) for row in crop.line_range]
        for each in self.get_line_filters():
            lines = [line.apply_filter(each, self.styles.background) for line in lines]
        return lines if crop.width == self.size.width else [line.crop(crop.x, crop.right) for line in lines]

    def on_resize(self, event: events.Resize) -> None:
        width = max(event.size.width - GUTTER - 1, 10)
        self.timeline_layout.rows = event.size.height
        if width != self.context.width:
            self.context.width = width
            self.timeline_layout.invalidate()
        self._compose_again()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height

    # -- scrolling

    def scroll_rows(self, count: int) -> None:
        """Scroll by `count` lines, down if positive."""
        self.timeline_layout.scroll(count)
        self._repaint()

    def scroll_pages(self, count: int) -> None:
        self.scroll_rows(count * max(self.size.height - 2, 1))

    def to_start(self) -> None:
        self.timeline_layout.jump(0)
        self._repaint()

    def to_end(self) -> None:
        """Scroll to the end and follow new output."""
        self.timeline_layout.jump(None)
        self._repaint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_by_wheel(event, -_WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_by_wheel(event, _WHEEL_LINES)

    def _scroll_by_wheel(self, event: events.MouseEvent, count: int) -> None:
        event.stop()
        self.scroll_rows(count)
        self.mouse_selection.on_scrolled()

    # -- the selected item

    @property
    def cursor(self) -> int | None:
        """The index of the selected item."""
        return self._cursor

    @cursor.setter
    def cursor(self, index: int | None) -> None:
        self._cursor = index
        self._update_chosen()

    @property
    def selected(self) -> TimelineItem | None:
        timeline = self.timeline_layout.timeline
        return timeline[self.cursor] if self.cursor is not None and self.cursor < len(timeline) else None

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the selected item starts on the screen: screen readers follow the terminal's cursor."""
        rows = [row for row, (_, index) in enumerate(self.timeline_layout.visible_lines) if index == self.cursor]
        return self.content_region.offset + Offset(0, rows[0] if rows else 0)

    def _update_chosen(self) -> None:
        """Tell the blocks which item is selected: some show key hints then."""
        item = self.selected if self.has_focus else None
        key = key_of(item, 0) if item is not None else None
        before, self.context.chosen = self.context.chosen, key
        if before != key:
            self.timeline_layout.update(
                [each for each in (before, key) if each is not None and each[0] in _SHOWS_HINTS]
            )

    def select(self, index: int) -> None:
        """Select an item and scroll it into view."""
        count = len(self.timeline_layout.timeline)
        if count:
            self.cursor = max(0, min(index, count - 1))
            self.timeline_layout.reveal(self.cursor)
            self._repaint()

    def move_cursor(self, by: int) -> None:
        """Select the next or previous item; if the selected one is out of view, the last visible item."""
        is_visible = self.cursor is not None and self.cursor in self.timeline_layout.visible_items()
        if not is_visible or self.cursor is None:
            self.select(self._last_whole())
            return
        place, blocks = self.cursor + by, self.timeline_layout.blocks
        while 0 <= place < len(blocks.timeline) and not blocks.lines(place):
            place += by  # it isn't shown
        self.select(place if 0 <= place < len(blocks.timeline) else self.cursor)

    def _last_whole(self) -> int:
        """The last item that is entirely visible; the last visible one if there is none, or if the end is in view."""
        layout = self.timeline_layout
        last = max(layout.visible_items(), default=0)
        rows = sum(index == last for _, index in layout.visible_lines)
        is_truncated = not layout.following and rows < len(layout.blocks.cached_lines(last) or ())
        return last - 1 if is_truncated and last - 1 in layout.visible_items() else last

    def deselect_if_following(self) -> None:
        """The user enters the view: while it follows the agent, they mean its latest item, not an older selection."""
        if self.timeline_layout.following:
            self.cursor = None

    def _select_first(self) -> None:
        self.to_start()
        blocks = self.timeline_layout.blocks
        self.select(next((place for place in range(len(blocks.timeline)) if blocks.lines(place)), 0))

    def _select_last(self) -> None:
        """Scroll to the end, follow new output, and select the last item."""
        self.to_end()
        self.cursor = self._last_whole() if self.timeline_layout.timeline else None

    def toggle(self) -> None:
        """Open or fold the selected item; a subagent opens in a tab."""
        if (item := self.selected) is not None and self.cursor is not None:
            if key_of(item, 0)[0] == "subagent":
                self.post_message(self.Entered(item))
                return
            self.timeline_layout.toggle(self.cursor)
            self._repaint()

    def toggle_all(self) -> None:
        """Open all tool calls and thoughts, or show them as they are by default: diffs and the end of output stay."""
        self._are_all_open = not self._are_all_open
        self.timeline_layout.set_all_open(self._are_all_open or None, self.cursor if self.has_focus else None)
        self._repaint()

    # -- selected text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, for Textual's copy action."""
        text = self.mouse_selection.text()
        return None if text is None else (text, "\n")

    def selection_updated(self, selection: Selection | None) -> None:
        if selection is None:
            self.mouse_selection.current = None
        self.refresh()

    def on_hide(self) -> None:
        self.mouse_selection.clear()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.mouse_selection.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.mouse_selection.move(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.mouse_selection.release()

    def on_click(self, event: events.Click) -> None:
        layout = self.timeline_layout
        if event.x == self.size.width - 1:
            layout.jump(layout.heights.total * event.y // max(self.size.height, 1))
        elif self.mouse_selection.takes_click(event):
            self._click_again(event.chain)
        elif event.y < len(layout.visible_lines):
            self.mouse_selection.remember_click(event)
            self.cursor = index = layout.visible_lines[event.y][1]
            self._before_click = (index, layout.blocks.is_open(index), layout.following, layout.top)
            kind = key_of(layout.timeline[self.cursor], self.cursor)[0]
            if kind == "subagent":
                self.toggle()
            elif kind != "agent":
                layout.toggle(self.cursor)
        self.refresh()
        self._report_following()

    def _click_again(self, chain: int) -> None:
        """Select a word or a paragraph. The first click may have opened or folded the item: undo that."""
        if chain > 1:
            layout = self.timeline_layout
            if chain == 2 and self._before_click is not None:
                index, is_open, layout.following, layout.top = self._before_click
                if layout.blocks.is_open(index) != is_open:
                    layout.set_open(index, is_open)
            self.mouse_selection.select_clicked(chain)

    # -- focus and keys

    def on_focus(self) -> None:
        self._is_leaving = False
        if self.timeline_layout.timeline and self.cursor not in self.timeline_layout.visible_items():
            self.cursor = self._last_whole()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._update_chosen()

    def on_key(self, event: events.Key) -> None:
        actions: dict[str, Callable[[], None]] = {
            "up": lambda: self.move_cursor(-1),
            "k": lambda: self.move_cursor(-1),
            "down": lambda: self.move_cursor(1),
            "j": lambda: self.move_cursor(1),
            "shift+up": lambda: self.scroll_rows(-1),
            "shift+down": lambda: self.scroll_rows(1),
            "pageup": lambda: self.scroll_pages(-1),
            "pagedown": lambda: self.scroll_pages(1),
            "home": self._select_first,
            "ctrl+home": self._select_first,
            "g": self._select_first,
            "end": self._select_last,
            "ctrl+end": self._select_last,
            "G": self._select_last,
            "f": self._select_last,
            "enter": self.toggle,
            "space": self.toggle,
            "o": self.toggle_all,
            "y": self._copy,
            "c": self._copy,
            "e": self._open_in_editor,
            "x": self._stop,
            "r": self._review,
            "v": lambda: self._view_images(images_of(self.selected)),
            "tab": lambda: self._leave(),
            "escape": lambda: self._leave("escape"),
            "i": lambda: self._leave(),
            "slash": lambda: self._leave("type", "/"),
            "question_mark": lambda: self._leave("help"),
        }
        action = actions.get(event.key) if not (self._is_leaving and event.is_printable) else None
        if action is not None:
            event.stop()
            event.prevent_default()
            action()
        elif event.is_printable and event.character and not event.key.startswith("alt+"):
            event.stop()
            event.prevent_default()
            self._leave("type", event.character)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._leave("paste", event.text)

    def _copy(self) -> None:
        if self.mouse_selection.current is not None and (found := self.get_selection(SELECT_ALL)) is not None:
            self.post_message(self.Copied(found[0]))
            self.mouse_selection.clear()
        elif self.selected is not None and self.cursor is not None:
            self.post_message(self.Copied(self.timeline_layout.blocks.get(self.cursor).text()))

    def _stop(self) -> None:
        self.post_message(self.Stopped(self.selected))

    def _review(self) -> None:
        self.post_message(self.ReviewWanted(self.selected))

    def _open_in_editor(self) -> None:
        if (item := self.selected) is not None and self.cursor is not None:
            block = self.timeline_layout.blocks.get(self.cursor)
            if images_of(item) and not block.whole().strip():
                self._view_images(images_of(item))
            else:
                self.post_message(self.Opened(item, block))

    def _leave(self, key: str = "", character: str = "") -> None:
        # The user began typing a word: the letters that follow belong to it, even before the focus has moved.
        self._is_leaving = key == "type"
        self.post_message(self.Left(key, character))

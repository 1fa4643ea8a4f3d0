"""The transcript view: a widget that shows a session's transcript, and lets the user scroll, open, select and copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.selection import SELECT_ALL, Selection
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.errors import run_in_background
from accord.tui.transcript.blocks.base import GUTTER, Block, BlockContext
from accord.tui.transcript.blocks.factory import Key, key_of
from accord.tui.transcript.images.gallery import Gallery
from accord.tui.transcript.images.support import ImageSupport, detect_support
from accord.tui.transcript.item_selection import ItemSelection
from accord.tui.transcript.layout import Layout
from accord.tui.transcript.line_painter import LinePainter
from accord.tui.transcript.mouse_selection import MouseSelection

if TYPE_CHECKING:
    from accord.model.content import Image
    from accord.transcript.snapshot import TimelineItem
    from accord.transcript.transcript import Transcript
    from accord.tui.app import AccordApp
    from accord.tui.theme import TextStyles

_WHEEL_LINES = 3
_FRAME_SECONDS = 0.05


class TranscriptView(Widget, can_focus=True):
    """Shows a transcript. `update_items` takes what changed; `cursor` is the selected item.

    Its collaborators do the work: `timeline_layout` decides which lines are visible, `item_selection` moves the cursor,
    `mouse_selection` selects text, and `images` renders images and sends them to the terminal."""

    DEFAULT_CSS: ClassVar[str] = """
    TranscriptView { height: 1fr; width: 1fr; background: $background; color: $foreground; }
    """

    focus_keys: ClassVar[tuple[str, ...]] = ("↑↓ select", "enter open", "y copy", "e editor", "tab prompt", "? keys")
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
        self.item_selection: ItemSelection = ItemSelection(self)
        self._painter = LinePainter(self)
        context.gallery = self.images
        self.empty_text: list[str] = []
        """Shown while the transcript is empty."""
        self.transcript: Transcript | None = None
        self._are_all_open = False
        self._is_leaving = False
        self._before_click: tuple[int, bool | None, bool, tuple[int, int]] | None = None
        self._reported_following = True
        self._frame_pending = False

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
        self.item_selection.index = None
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
        self._painter.forget()
        self.timeline_layout.compose()
        self.repaint()

    def repaint(self) -> None:
        """Paint after scrolling or folding. What doesn't fit into this frame follows in the next."""
        self.refresh()
        self._report_following()
        if self.timeline_layout.is_behind and not self._frame_pending:
            self._frame_pending = True
            self.set_timer(_FRAME_SECONDS, self._render_next_frame)

    def _render_next_frame(self) -> None:
        self._frame_pending = False
        self.timeline_layout.update(())
        self.repaint()

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
        self.repaint()

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
        return self._painter.paint_line(y)

    def render_lines(self, crop: Region) -> list[Strip]:
        # A frame may be painted between a new layout and its Resize event: it would show the lines of the old size.
        if self._fit_size():
            self.timeline_layout.compose()
        return self._painter.paint(crop)

    def on_resize(self, event: events.Resize) -> None:
        self._fit_size()
        self._compose_again()

    def _fit_size(self) -> bool:
        """Take over the widget's size. Return whether it has changed."""
        width, rows = max(self.outer_size.width - GUTTER - 1, 10), self.outer_size.height
        if (width, rows) == (self.context.width, self.timeline_layout.rows):
            return False
        self.timeline_layout.rows = rows
        if width != self.context.width:
            self.context.width = width
            self.timeline_layout.invalidate()
        return True

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return container.height

    # -- scrolling

    def scroll_rows(self, count: int) -> None:
        """Scroll by `count` lines, down if positive."""
        self.timeline_layout.scroll(count)
        self.repaint()

    def scroll_pages(self, count: int) -> None:
        self.scroll_rows(count * max(self.size.height - 2, 1))

    def to_start(self) -> None:
        self.timeline_layout.jump(0)
        self.repaint()

    def to_end(self) -> None:
        """Scroll to the end and follow new output."""
        self.timeline_layout.jump(None)
        self.repaint()

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
        return self.item_selection.index

    @property
    def selected(self) -> TimelineItem | None:
        return self.item_selection.item

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the selected item starts on the screen: screen readers follow the terminal's cursor."""
        return self.content_region.offset + Offset(0, self.item_selection.row)

    def toggle(self) -> None:
        """Open or fold the selected item; a subagent opens in a tab."""
        if (item := self.selected) is not None and self.cursor is not None:
            if key_of(item, 0)[0] == "subagent":
                self.post_message(self.Entered(item))
                return
            self.timeline_layout.toggle(self.cursor)
            self.repaint()

    def toggle_all(self) -> None:
        """Open all tool calls and thoughts, or show them as they are by default: diffs and the end of output stay."""
        self._are_all_open = not self._are_all_open
        self.timeline_layout.set_all_open(self._are_all_open or None, self.cursor if self.has_focus else None)
        self.repaint()

    # -- selected text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, for Textual's copy action."""
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
            self.item_selection.index = index = layout.visible_lines[event.y][1]
            self._before_click = (index, layout.blocks.is_open(index), layout.following, layout.top)
            kind = key_of(layout.timeline[index], index)[0]
            if kind == "subagent":
                self.toggle()
            elif kind != "agent":
                layout.toggle(index)
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
        self.item_selection.select_visible()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.item_selection.update_chosen()

    def on_key(self, event: events.Key) -> None:
        actions: dict[str, Callable[[], None]] = {
            "up": lambda: self.item_selection.move(-1),
            "k": lambda: self.item_selection.move(-1),
            "down": lambda: self.item_selection.move(1),
            "j": lambda: self.item_selection.move(1),
            "shift+up": lambda: self.scroll_rows(-1),
            "shift+down": lambda: self.scroll_rows(1),
            "pageup": lambda: self.scroll_pages(-1),
            "pagedown": lambda: self.scroll_pages(1),
            "home": self.item_selection.move_first,
            "ctrl+home": self.item_selection.move_first,
            "g": self.item_selection.move_first,
            "end": self.item_selection.move_last,
            "ctrl+end": self.item_selection.move_last,
            "G": self.item_selection.move_last,
            "f": self.item_selection.move_last,
            "enter": self.toggle,
            "space": self.toggle,
            "o": self.toggle_all,
            "y": self._copy,
            "c": self._copy,
            "e": self._open_in_editor,
            "x": self._stop,
            "r": self._review,
            "v": lambda: self._view_images(_images_of(self.selected)),
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
            if (images := _images_of(item)) and not block.whole().strip():
                self._view_images(images)
            else:
                self.post_message(self.Opened(item, block))

    def _leave(self, key: str = "", character: str = "") -> None:
        # The user began typing a word: the letters that follow belong to it, even before the focus has moved.
        self._is_leaving = key == "type"
        self.post_message(self.Left(key, character))


def _images_of(item: object) -> list[Image]:
    from accord.tui.transcript.blocks.attachment import images_of

    return images_of(item)

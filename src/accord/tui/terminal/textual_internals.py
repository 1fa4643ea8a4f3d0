"""The private names of Textual and Rich that the TUI depends on, in one place.

Textual has no public way to paint a single widget, to replace the key parser, or to inspect pending updates.
Other modules use the functions below instead of private names, so that an upgrade of Textual breaks one module.
A contract test checks each name, and the private methods that our subclasses override."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from textual._compositor import ChopsUpdate, CompositorUpdate
from textual._xterm_parser import XTermParser
from textual.document._document import EditResult, Location

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.style import Style
    from textual.app import App
    from textual.binding import Binding
    from textual.driver import Driver
    from textual.filter import LineFilter
    from textual.geometry import Region
    from textual.screen import Screen
    from textual.widget import Widget
    from textual.widgets import OptionList

__all__ = ["ChopsUpdate", "CompositorUpdate", "EditResult", "Location", "XTermParser"]


def get_driver(app: App[Any]) -> Driver | None:
    """Return the object that reads from and writes to the terminal; None before the app runs."""
    return app._driver


def is_writer_busy(app: App[Any]) -> bool:
    """Return whether the terminal hasn't taken all output yet, or another program has the terminal."""
    thread = getattr(app._driver, "_writer_thread", None)  # drivers without a terminal have none
    return thread is not None and (not thread.is_alive() or thread._queue.qsize() > 0)


def get_line_filters(app: App[Any]) -> list[LineFilter]:
    """Return the filters that every line passes before it is written; changes to the list apply."""
    return app._filters


def exit_after_crash(app: App[Any], message: RenderableType) -> None:
    """Stop the app at once, and print a message when the terminal is restored.

    One bug may cause others. The first message is the most useful, so later ones are dropped."""
    if not app._exit_renderables:
        app._exit_renderables.append(message)
    app._close_messages_no_wait()


def is_batching(app: App[Any]) -> bool:
    """Return whether the app holds back updates (`App.batch_update`)."""
    return bool(app._batch_count)


def has_pending_updates(screen: Screen[Any]) -> bool:
    """Return whether a layout, scroll, repaint or recompose of the whole screen is due."""
    return screen._layout_required or screen._scroll_required or screen._repaint_required or screen._recompose_required


def lay_out_first(widget: Widget) -> None:
    """Lay out the screen before anything else is painted, because this widget was hidden."""
    widget._check_refresh()
    widget.screen._layout_required = True
    widget.screen.check_idle()


def visible_widgets(screen: Screen[Any]) -> dict[Widget, tuple[Region, Region]]:
    """Return the region and clip of each visible widget, topmost first."""
    return screen._compositor.visible_widgets


def dirty_widgets(screen: Screen[Any]) -> set[Widget]:
    """Return the widgets that wait to be painted. Remove those that are painted by other means."""
    return screen._dirty_widgets


def take_repaint_regions(widget: Widget) -> Collection[Region]:
    """Return the regions of a widget that changed since they were last taken."""
    return widget._exchange_repaint_regions()


def get_key_bindings(widget: Widget) -> dict[str, list[Binding]]:
    """Return the bindings of a widget by key; changes apply to this widget only."""
    return widget._bindings.key_to_bindings


def get_option_line(options: OptionList, index: int) -> int:
    """Return the line at which an option starts, counted from the first."""
    return options._index_to_line[index]


def get_link(style: Style) -> str | None:
    """Return the hyperlink of a style. Read for each segment drawn, and cheaper than the `link` property."""
    return style._link


def clear_style_cache() -> None:
    """Clear Textual's cache of border colors, which lives as long as the process and keeps a thousand widgets alive."""
    from textual._styles_cache import StylesCache

    StylesCache.get_inner_outer.cache_clear()

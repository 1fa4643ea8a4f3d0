"""The look of the application: theme, colors, screen-reader mode, and the background that the terminal reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import events
from textual.filter import Monochrome
from textual.timer import Timer

from accord.tui.terminal.background import MOMENT, LateReply
from accord.tui.terminal.filters import NoColorFilter, SanitizingFilter, ScreenReaderFilter, wants_screen_reader
from accord.tui.terminal.textual_internals import get_line_filters
from accord.tui.theme import DARK, LIGHT, TextStyles

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.preferences import Preferences


class Appearance:
    """Applies the user's preferences, and follows the terminal's background if no theme is chosen."""

    def __init__(self, app: AccordApp, preferences: Preferences) -> None:
        self.is_calm: bool = wants_screen_reader(preferences)
        """Whether a screen reader reads the screen: one column, nothing that moves."""
        self.late: LateReply | None = None
        """The terminal's reply about its background, which may still arrive."""
        self._app = app
        self._preferences = preferences
        self._text_styles: TextStyles | None = None
        self._moment: Timer | None = None
        self._is_dark: bool | None = None
        filters = get_line_filters(app)
        if app.no_color:
            # Textual's filter would draw shades of gray on a background that isn't the terminal's.
            filters[:] = [*(each for each in filters if not isinstance(each, Monochrome)), NoColorFilter()]
        self._reader_filter = ScreenReaderFilter(enabled=self.is_calm)
        filters += [self._reader_filter, SanitizingFilter()]
        app.theme = preferences.theme if preferences.theme in app.available_themes else DARK.name

    @property
    def text_styles(self) -> TextStyles:
        """The styles of the current theme."""
        if self._text_styles is None:
            app = self._app
            # `theme_variables` follow a change of theme only once the application runs.
            variables = app.get_css_variables()
            self._text_styles = TextStyles(variables, dark=app.current_theme.dark, depth=app.console.color_system)
        return self._text_styles

    def forget_styles(self) -> None:
        """Drop the styles, because the theme has changed."""
        self._text_styles = None

    @property
    def side_by_side(self) -> bool:
        """Whether diffs are shown in two columns."""
        return self._preferences.side_by_side and not self.is_calm

    def apply_preferences(self) -> None:
        """Apply the preferences that aren't read at each use."""
        self.is_calm = self._reader_filter.enabled = wants_screen_reader(self._preferences)
        self._app.set_class(self.is_calm, "-calm")  # screens cover the whole transcript then
        self.show_cursor()

    def show_cursor(self) -> None:
        """Show the terminal's own cursor to screen readers, which need it; hide it otherwise."""
        self._app.write_terminal("\x1b[?25h" if self.is_calm else "\x1b[?25l")

    # -- theme

    def set_background(self, is_dark: bool | None) -> None:
        """Follow the terminal's background, unless the user chose a theme. None is unknown."""
        self._is_dark = self._is_dark if is_dark is None else is_dark
        if is_dark is not None and not self._preferences.theme:
            self._app.theme = DARK.name if is_dark else LIGHT.name
            self.forget_styles()  # before the app runs, a change of theme notifies no watcher

    @property
    def terminal_theme(self) -> str:
        """The theme that fits the terminal's background."""
        return LIGHT.name if self._is_dark is False else DARK.name

    def choose_theme(self, name: str) -> None:
        """Use a theme; an empty name follows the terminal, which is queried if its background is unknown."""
        self._preferences.theme = name
        if name:
            self._app.theme = name
            return
        from accord.tui.terminal.background import QUESTION, by_variable, can_be_queried

        self._is_dark = by_variable() if self._is_dark is None else self._is_dark
        self._app.theme = self.terminal_theme
        if self._is_dark is None and can_be_queried():
            self.late = LateReply()
            self._app.write_terminal(QUESTION.decode())

    def take_reply(self, key: events.Key, give_back: Callable[[events.Key], Awaitable[None]]) -> list[events.Key]:
        """Remove the terminal's late reply from the keys, and return those that the user pressed.

        Keys that may be the start of a reply are held for a moment, then passed to `give_back`."""
        late = self.late
        if late is None:
            return [key]
        pressed = late.take(key)
        if late.is_dark is not None:
            self.set_background(late.is_dark)
        if late.is_over:
            self.late = None
        elif late.holds:
            if self._moment is not None:
                self._moment.stop()

            async def give_all_back() -> None:
                for held in self.late.release_held() if self.late is not None else ():
                    await give_back(held)

            self._moment = self._app.set_timer(MOMENT, give_all_back)
        return pressed

"""The surface of the application: colours, what the user set about looks, and the terminal that all is shown in."""

from __future__ import annotations

import time

from textual import events
from textual.filter import Monochrome
from textual.geometry import Offset
from textual.timer import Timer

from accord.tui import preferences
from accord.tui.attention import Attention
from accord.tui.chords import heed_chords
from accord.tui.colourless import Colourless
from accord.tui.conversation.picture_sending import Sender
from accord.tui.desk import AnsweringApp
from accord.tui.harmless import Harmless
from accord.tui.late import MOMENT, Late
from accord.tui.linear import Linear, is_wanted
from accord.tui.look import Look
from accord.tui.prompt.at_once import taken


class Surface(AnsweringApp):
    """Knows how things look, and where the user is."""

    def __init__(self) -> None:
        super().__init__()
        heed_chords(self.driver_class)
        if self.no_color:  # instead of shades of grey on a ground that need not be the terminal's
            self._filters[:] = [*(each for each in self._filters if not isinstance(each, Monochrome)), Colourless()]
        self.preferences = preferences.load()
        self.attentive = Attention(self._write)
        self.pictures = Sender(self._write, self._is_terminal_busy)
        self.is_calm = is_wanted(self.preferences)
        """Whether the screen is read to the user."""
        self._filters += [Linear(enabled=self.is_calm), Harmless()]
        self._look: Look | None = None
        self.late: Late | None = None
        """What the terminal was asked and has not answered yet."""
        self._moment: Timer | None = None
        self._is_dark: bool | None = None
        if self.preferences.theme in self.available_themes:
            self.theme = self.preferences.theme

    def seems(self, is_dark: bool | None) -> None:
        """Takes over whether the terminal is dark or light, where the user has not chosen a theme."""
        self._is_dark = self._is_dark if is_dark is None else is_dark
        if is_dark is not None and not self.preferences.theme:
            self.theme = "textual-dark" if is_dark else "textual-light"

    def choose_theme(self, name: str) -> None:
        """Takes a theme; none is the light or the dark one, as the terminal is, which is asked if it has not said."""
        self.preferences.theme = name
        if name:
            self.theme = name
            return
        from accord.tui.ground import QUESTION, by_variable, can_be_asked

        self._is_dark = by_variable() if self._is_dark is None else self._is_dark
        self.theme = "textual-light" if self._is_dark is False else "textual-dark"
        if self._is_dark is None and can_be_asked():
            self.late = Late()
            self._write(QUESTION.decode())

    def take_settings(self) -> None:
        """Does as the settings say, where that is not asked for anew each time."""
        self.is_calm = is_wanted(self.preferences)
        self.set_class(self.is_calm, "-calm")  # what lies above the conversation covers all of it then
        for each in self._filters:
            if isinstance(each, Linear):
                each.enabled = self.is_calm
        self.show_cursor()

    def show_cursor(self) -> None:
        """The terminal's own cursor is where one types; whoever has the screen read needs it to be seen, too."""
        self._write("\x1b[?25h" if self.is_calm else "\x1b[?25l")

    @property
    def side_by_side(self) -> bool:
        return self.preferences.side_by_side and not self.is_calm

    @property
    def cursor_position(self) -> Offset:
        """Where the terminal's cursor is: where one types, however the things around it have moved since."""
        if not self._screen_stacks.get("_default"):
            return self._cursor
        if self.is_calm and (reading := getattr(self.screen, "reading_place", None)) is not None:
            return Offset(*reading)
        widget = self.focused
        place = getattr(widget, "cursor_screen_offset", None)
        if not isinstance(place, Offset):
            return self._cursor
        # A field says one cell too much when the cursor is at the end of what was typed.
        return place - Offset(1, 0) if getattr(widget, "cursor_at_end", False) else place

    @cursor_position.setter
    def cursor_position(self, place: Offset) -> None:
        self._cursor = place

    @property
    def look(self) -> Look:
        if self._look is None:
            self._look = Look(self.theme_variables, dark=self.current_theme.dark, depth=self.console.color_system)
        return self._look

    # -- the terminal

    def _write(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def _is_terminal_busy(self) -> bool:
        """Whether it has not taken yet what was written to it, so that keys would wait behind more of it; or is
        somebody else's now."""
        thread = getattr(self._driver, "_writer_thread", None)
        return thread is not None and (not thread.is_alive() or thread._queue.qsize() > 0)

    @property
    def last_key(self) -> float:
        """When a key was last pressed, by the monotonic clock."""
        return self.attentive.last_key

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self.late is not None and not event.is_forwarded:
            for key in self._pressed(self.late, event):
                await self._heard(key)
        else:
            await self._heard(event)

    async def _heard(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.attentive.last_key = time.monotonic()
        elif isinstance(event, (events.AppBlur, events.AppFocus)):
            self.attentive.focused(isinstance(event, events.AppFocus))
        is_tab = isinstance(event, events.Key) and event.key == "tab" and not event.is_forwarded
        await super().on_event(event)
        if is_tab and self.focused is not None:  # what follows is meant for whom it leads to
            await taken(self.focused)

    def _pressed(self, late: Late, key: events.Key) -> list[events.Key]:
        """Keys without what the terminal says."""
        pressed = late.pressed(key)
        if late.is_dark is not None:
            self.seems(late.is_dark)
        if late.is_over:
            self.late = None
        elif late.holds:
            if self._moment is not None:
                self._moment.stop()
            self._moment = self.set_timer(MOMENT, self._give_back)
        return pressed

    async def _give_back(self) -> None:
        for key in self.late.given_back() if self.late is not None else ():
            await self._heard(key)

"""Keyboard fixes: Alt chords are recognized at once, and keys act in the order in which they were pressed.

A terminal sends Alt and a letter as escape and the letter. Textual waits for what might follow; if that is another
escape, it gives up and types both. No other terminal sequence starts with escape and a lowercase letter, so there is
nothing to wait for.

Textual passes letters to the focused field, but lets keys such as backspace bubble up through all parents before they
act, so letters typed quickly overtake them. The fields here act on their own keys immediately."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from contextlib import suppress
from string import ascii_lowercase

from textual import events
from textual.driver import Driver
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input

from accord.tui.terminal.textual_internals import XTermParser, get_key_bindings

_CHORDS = frozenset(f"\x1b{letter}" for letter in ascii_lowercase)


class ChordParser(XTermParser):
    """A key parser that recognizes Alt chords at once."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        found = list(super()._sequence_to_key_events(sequence, alt))
        if not found and sequence in _CHORDS:
            return super()._sequence_to_key_events(sequence[1], alt=True)
        return found


def install_chord_parser(driver: type[Driver]) -> None:
    """Make a driver use `ChordParser`, if it reads terminal input."""
    names = vars(sys.modules[driver.__module__])
    if names.get("XTermParser") is XTermParser:
        names["XTermParser"] = ChordParser  # there is no other way to give it one


_TIMEOUT_SECONDS = 0.2


async def act_at_once(field: Widget, event: events.Key) -> bool:
    """Run the field's own binding of a key that isn't a letter. Return whether there was one."""
    bindings = get_key_bindings(field).get(event.key)
    if not bindings or event.is_printable or bindings[0].action.startswith(("scroll_", "page_")):
        return False  # a letter, or a scroll key, which belongs to the widget around the field
    event.stop()
    event.prevent_default()
    await field.run_action(bindings[0].action)
    return True


def is_chord(event: events.Key) -> bool:
    """Return whether a key is an Alt chord. Terminals send its letter too, which must not be typed."""
    if event.key.startswith("alt+") and event.is_printable:
        event.prevent_default()
        return True
    return False


async def wait_until_handled(widget: Widget) -> None:
    """Wait briefly until a widget has handled the keys it was sent."""
    done = asyncio.Event()
    widget.call_later(done.set)
    with suppress(TimeoutError):
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await done.wait()


class Field(Input):
    """A one-line input whose keys act in order."""

    async def _on_key(self, event: events.Key) -> None:
        if not is_chord(event) and not await act_at_once(self, event):
            await super()._on_key(event)

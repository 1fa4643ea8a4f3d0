"""Keys that take effect in the order in which they were pressed.

Textual hands letters to the field that has the focus, but lets keys such as backspace travel up through everything
around it before they act; letters that follow quickly overtake them. The fields here act on their own keys at once,
so that whatever is typed in a hurry, or while the machine is busy, comes out as it was meant."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from textual import events
from textual.widget import Widget
from textual.widgets import Input

_PATIENCE = 0.2


async def act_at_once(field: Widget, event: events.Key) -> bool:
    """Does what a key means to a field, if it is one of the field's own keys and no letter. Gives whether it was."""
    bindings = field._bindings.key_to_bindings.get(event.key)
    if not bindings or event.is_printable or bindings[0].action.startswith(("scroll_", "page_")):
        return False  # a letter; or a key that every widget has for scrolling, and that is meant for what is around it
    event.stop()
    event.prevent_default()
    await field.run_action(bindings[0].action)
    return True


def is_chord(event: events.Key) -> bool:
    """Whether a key was pressed together with Alt. Terminals send the letter too, which is not to be typed: the key is
    left to whatever is around the field."""
    if event.key.startswith("alt+") and event.is_printable:
        event.prevent_default()
        return True
    return False


async def taken(widget: Widget) -> None:
    """Waits, but not for long, until a widget has taken the keys that it was handed."""
    done = asyncio.Event()
    widget.call_later(done.set)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await done.wait()


class Field(Input):
    """A line to type in."""

    async def _on_key(self, event: events.Key) -> None:
        if not is_chord(event) and not await act_at_once(self, event):
            await super()._on_key(event)

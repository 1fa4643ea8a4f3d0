"""Alt and a letter are one key as soon as both are there.

A terminal sends escape and the letter. Textual waits for what might follow; where that is another escape it gives up
and types both. No other sequence of a terminal begins with escape and a small letter: there is nothing to wait for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from string import ascii_lowercase

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.events import Key

_CHORDS = frozenset(f"\x1b{letter}" for letter in ascii_lowercase)


class ChordParser(XTermParser):
    """Reads keys, those with Alt at once."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        found = list(super()._sequence_to_key_events(sequence, alt))
        if not found and sequence in _CHORDS:
            return super()._sequence_to_key_events(sequence[1], alt=True)
        return found


def heed_chords(driver: type[Driver]) -> None:
    """Has a driver read keys like that, if it reads what a terminal sends."""
    module = sys.modules.get(driver.__module__)
    if getattr(module, "XTermParser", None) is XTermParser:
        setattr(module, "XTermParser", ChordParser)  # noqa: B010  # there is no other way to give it one

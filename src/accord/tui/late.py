"""What a slow terminal answers when keys are read already: it comes as keys, and must not be taken for typing.

Only while an answer is awaited are keys looked at, and only those are held that could be one, for a moment."""

from __future__ import annotations

import re
import time

from textual.events import Key

from accord.tui.ground import read

PATIENCE = 30.0
"""Seconds in which an answer may come."""
MOMENT = 0.3
"""Seconds after which a key that could have begun an answer was pressed after all."""
# Escape begins an answer; what is not known to follow it, it is a mark to, or nothing at all.
_MEANT = {"escape": "\x1b", "circumflex_accent": "\x1b", "ctrl+g": "\x07"}
_WHOLE = re.compile(r"\x1b?\]11;[\w:/]*(?:\x07|\x1b?\\)|\x1b?\[\?[\d;]*c")
_PART = re.compile(r"\x1b|\x1b?(?:\](?:1(?:1(?:;[\w:/]{0,40}\x1b?)?)?)?|\[(?:\?[\d;]{0,40})?)")
_LAST = "c"


class Late:
    """Tells an answer from typing."""

    def __init__(self, begun: str = "") -> None:
        """`begun` is what was read of an answer before keys were."""
        self._text = begun
        self._held: list[Key] = []
        self._until = time.monotonic() + PATIENCE
        self.is_dark: bool | None = None
        self.is_over = False
        """Whether nothing more is awaited."""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def pressed(self, key: Key) -> list[Key]:
        """The keys that were really pressed, as far as that is known after this one."""
        if time.monotonic() > self._until:
            self.is_over = True
            return [*self.given_back(), key]
        meant = _MEANT.get(key.key, key.character or "\0")
        before: list[Key] = []
        if _PART.fullmatch(self._text + meant) is None and _WHOLE.fullmatch(self._text + meant) is None:
            before = self.given_back()
        self._text += meant
        if _WHOLE.fullmatch(self._text) is not None:
            self.is_over = self._text.endswith(_LAST)
            self.is_dark = read(self._text.encode()).is_dark if self.is_dark is None else self.is_dark
            self._text = ""
            self._held.clear()
            return before
        if _PART.fullmatch(self._text) is None:
            self._text = ""
            return [*before, key]
        self._held.append(key)
        return before

    def given_back(self) -> list[Key]:
        """The keys that are held: nothing came that makes an answer of them."""
        held, self._held, self._text = self._held, [], ""
        return held

"""Lets others watch every message go by, as the bytes it is. Costs nothing while nobody watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from accord.connection.dispatch import log

Direction = Literal["in", "out"]
Watcher = Callable[[Direction, bytes], None]
"""Called with whole lines as they are received or sent. Must not keep the loop; one that raises is dismissed."""


class Tap:
    """The watchers of one connection."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Starts to watch; calling what it returns stops again."""
        self.watchers.append(watcher)

        def stop() -> None:
            if watcher in self.watchers:
                self.watchers.remove(watcher)

        return stop

    def show(self, direction: Direction, lines: bytes) -> None:
        for watcher in list(self.watchers):
            try:
                watcher(direction, lines)
            except Exception as error:
                log.error("a watcher failed, and watches no more", exc_info=error)
                self.watchers.remove(watcher)

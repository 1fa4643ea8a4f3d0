"""Diagnostics of a connection: watchers of the raw lines, and problems that no caller waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from accord.connection.dispatch import log

_MAX_LOGGED = 20  # problems of each kind that are logged, so that a flood doesn't fill the log

Kind = Literal["stray", "oversized", "unexpected", "dropped", "refused", "handler"]


class Problem(msgspec.Struct, frozen=True):
    """A problem on the wire that no caller waits for. It is reported, and the connection stays open."""

    kind: Kind
    text: str
    size: int = 0


class Problems:
    """Counts, logs and reports the problems of one connection."""

    def __init__(self, peer: str) -> None:
        self.counts: dict[str, int] = {}
        self.report: Callable[[Problem], None] | None = None
        self.first_stray: str = ""
        """The first stray output."""
        self._peer = peer

    def add(self, kind: Kind, text: str, size: int = 0) -> None:
        """Record a problem with something that the peer sent."""
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "stray":
            self.first_stray = self.first_stray or text
        if count <= _MAX_LOGGED:
            log.warning("from the %s: %s", self._peer, text)
        self._report(Problem(kind, text, size))

    def handler_failed(self, error: BaseException) -> None:
        """Record that the handler of a notification raised an error."""
        log.error("the handler of a notification failed", exc_info=error)
        self.counts["handler"] = self.counts.get("handler", 0) + 1
        self._report(Problem("handler", f"{type(error).__name__}: {error}"))

    def _report(self, problem: Problem) -> None:
        if self.report is not None:
            try:
                self.report(problem)
            except Exception as error:  # a failing callback must not cause more problems
                log.error("the callback for problems failed", exc_info=error)


Direction = Literal["in", "out"]
Watcher = Callable[[Direction, bytes], None]
"""Called with each line as it is received or sent. It must not block; if it raises, it is removed."""


class Tap:
    """The watchers of one connection. Costs nothing while there are none."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []

    def add(self, watcher: Watcher) -> Callable[[], None]:
        """Add a watcher. Call the returned function to remove it."""
        self.watchers.append(watcher)

        def stop() -> None:
            if watcher in self.watchers:
                self.watchers.remove(watcher)

        return stop

    def show(self, direction: Direction, lines: bytes) -> None:
        """Pass on each line of a block separately, including its line end."""
        for line in lines.removesuffix(b"\n").split(b"\n") if self.watchers else ():
            for watcher in list(self.watchers):
                try:
                    watcher(direction, line + b"\n")
                except Exception as error:
                    log.error("a watcher raised an error and was removed", exc_info=error)
                    self.watchers.remove(watcher)

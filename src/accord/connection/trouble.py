"""What goes wrong on the wire, or in a handler, that no caller waits for: counted, logged in part, and reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from accord.connection.dispatch import log

_LOGGED = 20  # of each kind: a flood must not fill the log

Kind = Literal["stray", "oversized", "unexpected", "dropped", "refused", "handler"]


class Trouble(msgspec.Struct, frozen=True):
    """Something went wrong on the wire that no caller waits for. It is reported, and the connection goes on."""

    kind: Kind
    text: str
    size: int = 0


class Troubles:
    """The troubles of one connection."""

    def __init__(self, peer: str) -> None:
        self.counts: dict[str, int] = {}
        self.report: Callable[[Trouble], None] | None = None
        self.first_stray = ""
        """The first of what was never meant for the wire."""
        self._peer = peer

    def met(self, kind: Kind, text: str, size: int = 0) -> None:
        """The peer sent something that is no good."""
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "stray":
            self.first_stray = self.first_stray or text
        if count <= _LOGGED:
            log.warning("from the %s: %s", self._peer, text)
        self._tell(Trouble(kind, text, size))

    def handler_failed(self, error: BaseException) -> None:
        """A handler of a notification raised."""
        log.error("a handler of a notification failed", exc_info=error)
        self.counts["handler"] = self.counts.get("handler", 0) + 1
        self._tell(Trouble("handler", f"{type(error).__name__}: {error}"))

    def _tell(self, trouble: Trouble) -> None:
        if self.report is not None:
            try:
                self.report(trouble)
            except Exception as error:  # whoever watches for trouble must not make more
                log.error("a report of trouble failed", exc_info=error)

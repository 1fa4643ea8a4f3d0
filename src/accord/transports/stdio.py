"""The agent's end of a wire over standard input and output."""

from __future__ import annotations

from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import DRAIN_SECONDS, FdTransport
from accord.transports.guard import Guarded, guard
from accord.transports.writing import HIGH_WATER

__all__ = ["Guarded", "StdioTransport", "guard"]


class StdioTransport(FdTransport):
    """Speaks over the real standard input and output, whatever they are: pipe, socket, file or terminal."""

    half_open = True

    def __init__(
        self,
        streams: Guarded,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self._streams = streams
        super().__init__(
            Inlet.shared(streams.stdin),
            Outlet.shared(streams.stdout),
            max_message_bytes=max_message_bytes,
            high_water=high_water,
            drain_seconds=drain_seconds,
        )

    @classmethod
    def guarded(cls, *, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> StdioTransport:
        """Guards standard input and output (unless that was done already) and speaks over them."""
        return cls(guard(), max_message_bytes=max_message_bytes)

    def describe(self) -> str:
        return "standard input and output"

    def _let_go(self) -> None:
        super()._let_go()
        self._streams.release()

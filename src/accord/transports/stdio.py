"""The agent's side of a connection over standard input and output."""

from __future__ import annotations

from accord.transports.base import DEFAULT_MAX_MESSAGE_BYTES
from accord.transports.descriptors import Inlet, Outlet
from accord.transports.fd import DRAIN_SECONDS, FdTransport
from accord.transports.sink import HIGH_WATER
from accord.transports.stdout_guard import GuardedStreams, guard_stdio


class StdioTransport(FdTransport):
    """Transport over the real standard input and output: pipe, socket, file or terminal."""

    half_open = True  # if standard input is a file of requests, it ends before the last of them is answered

    def __init__(
        self,
        streams: GuardedStreams,
        *,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        high_water: int = HIGH_WATER,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self._streams = streams
        super().__init__(
            Inlet.open_shared(streams.stdin),
            Outlet.open_shared(streams.stdout),
            max_message_bytes=max_message_bytes,
            high_water=high_water,
            drain_seconds=drain_seconds,
        )

    @classmethod
    def open(cls, *, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> StdioTransport:
        """Guard standard input and output, unless they are already guarded, and create a transport over them."""
        return cls(guard_stdio(), max_message_bytes=max_message_bytes)

    def describe(self) -> str:
        return "standard input and output"

    def _release(self) -> None:
        super()._release()
        self._streams.release()

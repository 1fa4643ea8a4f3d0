"""The access log and the audit log: JSON lines, on by default, without secrets.

    access  {"time": "2026-11-18T09:30:00.123Z", "event": "request", "address": "127.0.0.1", "principal": "ci",
             "method": "POST", "path": "/acp", "status": 202, "ms": 1.2, "connection": "…"}
    audit   {"time": "…", "event": "connected", "principal": "ci", "role": "driver", "address": "…", "connection": "…"}

Neither has query strings, header values or message contents. Logging errors never affect a request: a full disk is
reported once, and the server continues."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TextIO

import msgspec

from accord.config.redaction import redact_values
from accord.config.rotating_log import RotatingLog

MAX_TEXT = 300


class Sink(Protocol):
    """The destination of log entries."""

    def write(self, entry: dict[str, Any]) -> None: ...


class StreamSink:
    """Writes entries to a stream, such as standard output."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, entry: dict[str, Any]) -> None:
        self._stream.write(msgspec.json.encode(entry).decode() + "\n")
        self._stream.flush()


def open_sink(target: str, default: Path) -> Sink | None:
    """Open the target of an option: a file, `-` for standard output, `none`, or empty for the default file."""
    if target == "none":
        return None
    if target == "-":
        return StreamSink(sys.stdout)
    return RotatingLog(Path(target) if target else default)


class ServerLog:
    """Writes events to a sink. Never raises."""

    def __init__(
        self,
        sink: Sink | None,
        *,
        clock: Callable[[], float] = time.time,
        on_problem: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.lost: int = 0
        """Number of entries that couldn't be written."""
        self._sink = sink
        self._clock = clock
        self._on_problem = on_problem

    def record(self, event: str, **fields: Any) -> None:
        """Write an event without its empty fields."""
        if self._sink is None:
            return
        moment = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry = {"time": moment, "event": event}
        entry.update({name: _sanitize(value) for name, value in fields.items() if value not in (None, "")})
        try:
            self._sink.write(entry)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            self.lost += 1
            if self.lost == 1:
                with contextlib.suppress(Exception):
                    self._on_problem(f"the log isn't being written: {error}")


def _sanitize(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = redact_values(value[: 2 * MAX_TEXT])
    text = text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"
    if not text.isprintable():  # JSON leaves some controls as they are, and logs are read on terminals
        text = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    return text

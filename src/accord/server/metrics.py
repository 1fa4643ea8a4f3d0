"""Metrics in the text format of Prometheus. There are few of them, so a client library isn't worth its import."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that only increases, by labels."""

    kind = "counter"

    def __init__(self, name: str, help: str) -> None:
        self.name = name
        self.help = help
        self._values: dict[Labels, float] = {}

    def add(self, value: float = 1, /, **labels: str) -> None:
        key = tuple(sorted(labels.items()))
        self._values[key] = self._values.get(key, 0) + value

    def bind(self, **labels: str) -> Callable[[float], None]:
        """Return a function that adds to the number of these labels, for counters that change with every message."""
        key, values = tuple(sorted(labels.items())), self._values

        def add(value: float) -> None:
            values[key] = values.get(key, 0) + value

        return add

    def value(self, **labels: str) -> float:
        return self._values.get(tuple(sorted(labels.items())), 0)

    def lines(self) -> Iterator[str]:
        for labels, value in self._values.items() or {(): 0.0}.items():
            yield _line(self.name, labels, value)


class Gauge:
    """A number that is read on request; with `label`, one per value of that label."""

    def __init__(self, name: str, help: str, read: Callable[[], float | dict[str, float]], label: str = "") -> None:
        self.name = name
        self.help = help
        # Another object may own a number that only increases. Prometheus handles restarts only for counters.
        self.kind = "counter" if name.endswith("_total") else "gauge"
        self._read = read
        self._label = label

    def lines(self) -> Iterator[str]:
        found = self._read()
        if isinstance(found, dict):
            for name, value in sorted(found.items()):
                yield _line(self.name, ((self._label, name),), value)
        else:
            yield _line(self.name, (), found)


class Histogram:
    """Durations in seconds."""

    kind = "histogram"

    def __init__(self, name: str, help: str, bounds: tuple[float, ...] = SECONDS) -> None:
        self.name = name
        self.help = help
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        at = next((at for at, bound in enumerate(self._bounds) if seconds <= bound), len(self._bounds))
        self._counts[at] += 1
        self._sum += seconds

    def lines(self) -> Iterator[str]:
        total = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            yield _line(f"{self.name}_bucket", (("le", bound),), total)
        yield _line(f"{self.name}_sum", (), self._sum)
        yield _line(f"{self.name}_count", (), total)


class Metrics:
    """The metrics of a server."""

    def __init__(self) -> None:
        self.requests: Counter = Counter("accord_requests_total", "Requests and WebSockets by method and status.")
        self.seconds: Histogram = Histogram("accord_request_seconds", "Time to answer requests, without streams.")
        self.refusals: Counter = Counter("accord_refusals_total", "Requests that were refused, by reason.")
        self.connections: Counter = Counter("accord_connections_total", "ACP connections by transport.")
        self.messages: Counter = Counter("accord_messages_total", "ACP messages by direction.")
        self.bytes: Counter = Counter("accord_message_bytes_total", "Bytes of ACP messages by direction.")
        self._received = self.messages.bind(direction="received"), self.bytes.bind(direction="received")
        self._sent = self.messages.bind(direction="sent"), self.bytes.bind(direction="sent")
        self._metrics: list[Counter | Gauge | Histogram] = [
            self.requests,
            self.seconds,
            self.refusals,
            self.connections,
            self.messages,
            self.bytes,
            Gauge("process_resident_memory_bytes", "Resident memory of the server process.", _resident_bytes),
            Gauge("process_cpu_seconds_total", "CPU time of the server process.", time.process_time),
            Gauge("process_start_time_seconds", "Start of the server process.", _start_time(time.time())),
        ]

    def count_received(self, data: bytes) -> None:
        """Count lines that a client has sent."""
        messages, size = self._received
        messages(data.count(b"\n") or 1)
        size(len(data))

    def count_sent(self, data: bytes) -> None:
        """Count lines that a client is sent."""
        messages, size = self._sent
        messages(data.count(b"\n") or 1)
        size(len(data))

    def gauge(self, name: str, help: str, read: Callable[[], float | dict[str, float]], label: str = "") -> None:
        """Add a number that another object owns."""
        self._metrics.append(Gauge(name, help, read, label))

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        lines: list[str] = []
        for metric in self._metrics:
            lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        return ("\n".join(lines) + "\n").encode()


def _start_time(now: float) -> Callable[[], float]:
    return lambda: now


def _resident_bytes() -> float:
    """Return the resident memory; 0 if the system doesn't provide it in this way."""
    if sys.platform == "win32":
        return 0.0
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def _line(name: str, labels: Labels, value: float) -> str:
    text = ",".join(f'{key}="{_escape(each)}"' for key, each in labels)
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{text}}} {number}" if text else f"{name} {number}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

"""Measuring, the same way in every Python client: wall time, processor time of this process, resident memory."""

from __future__ import annotations

import gc
import json
import os
import resource
import time
from types import TracebackType
from typing import Any


class Stopwatch:
    """Wall and processor time of a block of code, in seconds."""

    wall = 0.0
    cpu = 0.0

    def __enter__(self) -> Stopwatch:
        self._wall, self._cpu = time.perf_counter(), cpu()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, cpu() - self._cpu


def cpu() -> float:
    """Processor time of this process so far, user and system, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rss() -> int:
    """Resident memory of this process now, in bytes (its peak where the system does not tell)."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def settled_rss() -> int:
    """The same, after garbage has been collected."""
    gc.collect()
    return rss()


def percentiles(seconds: list[float]) -> dict[str, float]:
    """The median and the 99th percentile, in microseconds."""
    ordered = sorted(seconds)
    return {"p50": ordered[len(ordered) // 2] * 1e6, "p99": ordered[int(len(ordered) * 0.99)] * 1e6}


def report(**measured: Any) -> None:
    """Prints the one line that a client prints."""
    print(json.dumps(measured), flush=True)

"""Clocks for every Python client: wall time, CPU time of the client and of both processes, resident memory."""

from __future__ import annotations

import gc
import json
import os
import resource
import time
from types import TracebackType
from typing import Any


class Stopwatch:
    """Wall and CPU time of a block of code, in seconds. `both` adds the CPU time of the agent (Linux only)."""

    wall = 0.0
    cpu = 0.0
    both = 0.0

    def __enter__(self) -> Stopwatch:
        self._agent = descendants_cpu()
        self._wall, self._cpu = time.perf_counter(), cpu()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, cpu() - self._cpu
        self.both = self.cpu + descendants_cpu() - self._agent

    def times(self) -> dict[str, float]:
        """All three, as a client reports them."""
        return {"wall": self.wall, "cpu": self.cpu, "both": self.both}


def cpu() -> float:
    """Processor time of this process so far, user and system, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def descendants_cpu() -> float:
    """CPU time so far of the processes below this one, in seconds; 0 where the system doesn't say."""
    total, pids = 0.0, [os.getpid()]
    while pids:
        pid = pids.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
                below = [int(child) for child in children.read().split()]
            # The CPU-time clock of another process, exact to the nanosecond (see clock_getcpuclockid(3)): the counters
            # in /proc move in steps of 10 ms, which is a whole run of the cheaper contenders.
            total += sum(time.clock_gettime((~child << 3) | 2) for child in below)
        except OSError:
            continue
        pids += below
    return total


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

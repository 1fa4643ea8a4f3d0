"""The workloads: their figures, and checks that a run did the work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contenders import workload

Run = dict[str, Any]  # what a client printed
MICRO, MILLI, MEGA = 1e6, 1e3, 1e6


@dataclass(frozen=True)
class Figure:
    """One number of a workload, and how to compute it from a run of `count` items."""

    key: str
    title: str
    read: Callable[[Run, int], float]
    digits: int = 1
    more_is_better: bool = False


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    count: int
    figures: tuple[Figure, ...]
    check: Callable[[Run, int], bool] = lambda run, count: True
    scales: bool = True  # whether --scale makes it longer
    common_agent: bool = False  # every client gets the same agent: only the client is measured
    one_core: bool = False  # both processes share a core: else their placement affects the figure most
    rounds: int | None = None  # maximum number of rounds
    items: Callable[[int], float] | None = None  # messages, requests or bytes in a run: what --cpu divides by
    needs: Callable[[Any], bool] = lambda contender: True

    def scale_count(self, scale: float) -> int:
        return max(1, round(self.count * scale)) if self.scales else self.count

    @property
    def cpu_figure(self) -> Figure | None:
        """CPU time of client and agent together, which is independent of other load."""
        items = self.items
        if items is None:
            return None
        title = f"{self.name} CPU of both processes, µs per item"
        return Figure(f"{self.name}.both", title, lambda run, count: float(run["both"]) / items(count) * MICRO, 2)


def _each(field: str, per_item: float = 1) -> Callable[[Run, int], float]:
    return lambda run, count: float(run[field]) / (count * per_item) * MICRO


def _check_stream(chunks: Callable[[int], int], times: Callable[[int], int]) -> Callable[[Run, int], bool]:
    """Check that every chunk arrived complete."""
    return lambda run, count: (
        run["letters"] == workload.letters(chunks(count)) * times(count) and run["updates"] >= chunks(count)
    )


def _time_per_request(run: Run, count: int) -> float:
    return float(run["wall"]) / _in_flight(count) * MICRO


def _in_flight(count: int) -> int:
    """Return the number of requests in a pipelined run: the same for each worker."""
    return count // workload.IN_FLIGHT * workload.IN_FLIGHT


WORKLOADS = [
    Workload(
        "W1",
        "a stream of small chunks in one turn",
        50_000,
        (
            Figure("W1.wall", "W1 stream, µs a message", _each("wall"), 2),
            Figure("W1.cpu", "W1 stream, client CPU µs", _each("cpu"), 2),
        ),
        _check_stream(lambda count: count, lambda count: 1),
        items=lambda count: count,
    ),
    Workload(
        "W1t",
        "the same, a message at a time as tokens come",
        1_000,
        (Figure("W1t.cpu", "W1t one at a time, client CPU µs", _each("cpu")),),
        _check_stream(lambda count: count, lambda count: 1),
        common_agent=True,
    ),
    Workload(
        "W2",
        "round trips, one after another",
        1_500,
        (
            Figure("W2.p50", "W2 round trip, p50 µs", lambda run, count: run["p50"]),
            Figure("W2.p99", "W2 round trip, p99 µs", lambda run, count: run["p99"]),
        ),
        one_core=True,
        items=lambda count: count,
    ),
    Workload(
        "W3",
        "requests, 256 in flight",
        10_240,
        (Figure("W3.wall", "W3 pipelined, µs each", _time_per_request),),
        items=_in_flight,
    ),
    Workload(
        "W4",
        "mixed turns: plan, thoughts, chunks, tool calls with 8 kB diffs, permissions, file reads",
        6,
        (Figure("W4.wall", "W4 mixed turn, µs a message", _each("wall", workload.TURN_MESSAGES)),),
        _check_stream(lambda count: 500, lambda count: count),
        items=lambda count: count * workload.TURN_MESSAGES,
    ),
    Workload(
        "W5",
        "one 20 MB prompt, one 20 MB update",
        workload.BLOB,
        (
            Figure("W5.prompt", "W5 prompt, MB/s", lambda run, count: count / run["prompt"] / MEGA, 0, True),
            Figure("W5.update", "W5 update, MB/s", lambda run, count: count / run["update"] / MEGA, 0, True),
        ),
        lambda run, count: run["letters"] == count,
        scales=False,
        items=lambda count: 2 * count / MEGA,
    ),
    Workload(
        "W6",
        "from nothing to the answer to initialize",
        0,
        (
            Figure("W6.agent", "W6 agent: spawn to initialize, ms", lambda run, count: run["agent"] * MILLI, 0),
            Figure("W6.client", "W6 client: spawn to exit, ms", lambda run, count: run["client"] * MILLI, 0),
        ),
        scales=False,
        common_agent=True,
        items=lambda count: 1,
    ),
    Workload(
        "W7",
        "memory of the client",
        50_000,
        (
            Figure("W7.rss", "W7 memory after the handshake, MiB", lambda run, count: run["rss"] / 2**20),
            Figure("W7.kept", "W7 bytes per kept update", lambda run, count: run["kept"], 0),
        ),
        scales=False,
        common_agent=True,
        rounds=2,
    ),
    Workload(
        "W7s",
        "applying one update to a session that has many",
        0,
        (
            Figure("W7s.100", "W7s apply at 100 updates, µs", lambda run, count: run["apply"]["100"], 2),
            Figure("W7s.1000", "W7s apply at 1,000 updates, µs", lambda run, count: run["apply"]["1000"], 2),
            Figure("W7s.100000", "W7s apply at 100,000 updates, µs", lambda run, count: run["apply"]["100000"], 2),
            Figure(
                "W7s.growth",
                "W7s apply, at 100,000 over at 100",
                lambda run, count: run["apply"]["100000"] / run["apply"]["100"],
                2,
            ),
        ),
        scales=False,
        rounds=2,
        needs=lambda contender: contender.accumulates,
    ),
    Workload(
        "W8",
        "1,000 sessions on one connection, 20 updates each",
        1_000,
        (Figure("W8.wall", "W8 many sessions, µs an update", _each("wall", workload.UPDATES_PER_SESSION)),),
        _check_stream(lambda count: workload.UPDATES_PER_SESSION, lambda count: count),
        items=lambda count: count * workload.UPDATES_PER_SESSION,
    ),
]
FIGURES = {figure.key: figure for work in WORKLOADS for figure in (*work.figures, work.cpu_figure) if figure}

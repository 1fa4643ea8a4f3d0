"""Performance goals: ratios to other contenders in the same run, or absolute bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A goal: our figure divided by that of `against` (or the figure itself if None) is at most `bound`, or at least
    `bound` if more is better."""

    contender: str
    figure: str
    bound: float
    against: str | None


def _goals(contender: str, bounds: dict[str, dict[str, float]]) -> list[Goal]:
    return [
        Goal(contender, figure, bound, None if against == "itself" else against)
        for figure, limits in bounds.items()
        for against, bound in limits.items()
    ]


GOALS = [
    *_goals(
        "accord_wire",
        {
            "W1.wall": {"python_sdk": 1 / 12, "raw_blocking": 1.5},
            "W1t.cpu": {"raw_asyncio": 2.0},
            "W2.p50": {"raw_asyncio": 1.6, "python_sdk": 1.0, "ts_sdk": 1.0},
            "W2.p99": {"python_sdk": 1.0, "ts_sdk": 1.0},
            "W3.wall": {"python_sdk": 1 / 5},
            "W4.wall": {"python_sdk": 1 / 8},
            "W5.prompt": {"python_sdk": 1.5},
            "W5.update": {"python_sdk": 1.5},
            "W6.agent": {"python_sdk": 0.18, "ts_sdk": 0.55},
            "W7.rss": {"python_sdk": 0.65},
            "W7.kept": {"python_sdk": 0.4},
            "W8.wall": {"python_sdk": 1 / 6.5},
        },
    ),
    *_goals(
        "accord_neutral",
        {
            "W1.wall": {"python_sdk": 1 / 8},
            "W1t.cpu": {"raw_asyncio": 3.0},
            "W2.p50": {"raw_asyncio": 1.4, "python_sdk": 1.0},
            "W2.p99": {"python_sdk": 1.0},
            "W3.wall": {"raw_asyncio": 3.0, "python_sdk": 1 / 4},
            "W4.wall": {"raw_asyncio": 1.6, "python_sdk": 1 / 5},
            "W5.prompt": {"python_sdk": 1.5},
            "W5.update": {"python_sdk": 1.5},
            "W6.agent": {"python_sdk": 0.18, "ts_sdk": 0.55},
            "W7.kept": {"python_sdk": 0.5},
            "W7s.100000": {"itself": 3.0},
            "W7s.growth": {"itself": 1.3},
            "W8.wall": {"raw_asyncio": 2.5, "python_sdk": 1 / 4.5},
        },
    ),
]

"""From the figures of every round to tables: medians, and ratios taken inside a round before the median."""

from __future__ import annotations

from statistics import median, quantiles

from goals import GOALS
from workloads import FIGURES

from registry import Contender

Rounds = list[dict[str, float]]  # per round: contender → figure
Figures = dict[str, Rounds]  # figure → rounds


def page(figures: Figures, contenders: list[Contender]) -> str:
    """Every table there is something to say in, as Markdown."""
    ours = [contender for contender in contenders if contender.ours]
    parts = [_medians(figures, contenders)]
    for subject in ours or [contender for contender in contenders if contender.sdk]:
        others = [other for other in contenders if not other.ours and other is not subject]
        if others:
            parts.append(_ratios(figures, subject, others))
    goals = _goals(figures, {contender.name: contender for contender in contenders})
    return "\n\n".join([*parts, *([goals] if goals else [])])


def _medians(figures: Figures, contenders: list[Contender]) -> str:
    rows = [
        [FIGURES[key].title, *(_median(key, [r[c.name] for r in rounds if c.name in r]) for c in contenders)]
        for key, rounds in figures.items()
    ]
    return "## Medians\n\n" + _table(["", *(contender.title for contender in contenders)], rows)


def _median(key: str, values: list[float]) -> str:
    return f"{median(values):,.{FIGURES[key].digits}f}" if values else "-"


def _ratios(figures: Figures, subject: Contender, others: list[Contender]) -> str:
    rows = []
    for key, rounds in figures.items():
        cells = [_ratio(rounds, subject.name, other.name) for other in others]
        if any(cell != "-" for cell in cells):
            better = " (more is better)" if FIGURES[key].more_is_better else ""
            rows.append([FIGURES[key].title + better, *cells])
    heading = f"## {subject.title}, as a multiple of\n\n"
    return heading + _table(["", *(other.title for other in others)], rows)


def _pair_ratios(rounds: Rounds, subject: str, other: str) -> list[float]:
    return [r[subject] / r[other] for r in rounds if r.get(other) and subject in r]


def _ratio(rounds: Rounds, subject: str, other: str) -> str:
    ratios = _pair_ratios(rounds, subject, other)
    if not ratios:
        return "-"
    if len(ratios) < 3:
        return _short(median(ratios))
    low, _, high = quantiles(ratios, n=4, method="inclusive")
    return f"{_short(median(ratios))} ({_short(low)}–{_short(high)})"


def _short(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def _goals(figures: Figures, contenders: dict[str, Contender]) -> str:
    rows = []
    for goal in GOALS:
        rounds = figures.get(goal.figure, [])
        if goal.against:
            values = _pair_ratios(rounds, goal.contender, goal.against)
        else:
            values = [r[goal.contender] for r in rounds if goal.contender in r]
        if not values:
            continue
        figure, measured = FIGURES[goal.figure], median(values)
        met = measured >= goal.bound if figure.more_is_better else measured <= goal.bound
        unit = f" × {contenders[goal.against].title}" if goal.against else ""
        wanted = f"{'≥' if figure.more_is_better else '≤'} {goal.bound:.3g}{unit}"
        row = [
            contenders[goal.contender].title,
            figure.title,
            wanted,
            f"{measured:.3g}",
            "met" if met else "**missed**",
        ]
        rows.append(row)
    return "## Goals\n\n" + _table(["", "figure", "goal", "measured", ""], rows) if rows else ""


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

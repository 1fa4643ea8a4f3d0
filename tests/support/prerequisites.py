"""External prerequisites of the tests: the official SDKs, the published schemas, tmux, jq, nginx, a model runtime.

`make test` installs all of it. A test whose prerequisite is missing fails; with `ACCORD_OFFLINE=1` it is skipped,
and the summary at the end counts these skips."""

from __future__ import annotations

import os
from typing import Any

import pytest

OFFLINE = os.environ.get("ACCORD_OFFLINE") == "1"
PREFIX = "ACCORD_OFFLINE=1: "
SKIP_WITH = "To run the tests without what is missing: ACCORD_OFFLINE=1 make test"


def require(missing: str | None) -> None:
    """Fail the running test for this reason, or skip it when offline. Do nothing without a reason."""
    if missing and OFFLINE:
        pytest.skip(PREFIX + missing)
    if missing:
        pytest.fail(f"{missing}; `make test` installs it, ACCORD_OFFLINE=1 skips this test", pytrace=False)


def needs(missing: str | None) -> pytest.MarkDecorator:
    """Return `require` as a mark, for whole modules and for reasons known before the test runs."""
    return pytest.mark.needs(missing)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        require(*mark.args)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if line := summarize(terminalreporter.stats.get("skipped", [])):
        terminalreporter.section("NOT TESTED", red=True, bold=True)
        terminalreporter.write_line(line, red=True, bold=True)


def summarize(skipped: list[pytest.TestReport]) -> str | None:
    """Count the tests skipped because of `ACCORD_OFFLINE=1`, by reason, on one line."""
    counts: dict[str, int] = {}
    for report in skipped:
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if PREFIX in reason:
            reason = reason.partition(PREFIX)[2]
            counts[reason] = counts.get(reason, 0) + 1
    if not counts:
        return None
    reasons = "; ".join(f"{reason} ({count})" for reason, count in sorted(counts.items()))
    return f"{sum(counts.values())} tests skipped because ACCORD_OFFLINE=1: {reasons}"

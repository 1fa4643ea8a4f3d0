"""docs/cli.md documents every event and exit status; tests/docs runs its commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec

from accord.cli.main import BROKEN_PIPE, COMMANDS
from accord.cli.support import output_events
from accord.cli.support.headless import NOT_ASKED, NOT_UNDERSTOOD_STATUS, STATUS
from accord.cli.support.interrupts import INTERRUPTED, TIMED_OUT
from accord.cli.support.run_budget import BUDGET_STATUS

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "cli.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return TEXT.partition(f"# {heading}\n")[2].partition("\n#")[0]


def test_every_event_and_field_is_documented() -> None:
    told = section("JSON output")
    rows = {
        name: row
        for row in re.findall(r"^\| `.*\|$", told, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
        if name != "event"
    }
    lines = {str(line.__struct_config__.tag): line for line in get_args(output_events.Line)}
    assert set(rows) == set(lines)
    for name, line in lines.items():
        missing = [field.name for field in msgspec.structs.fields(line) if f"`{field.name}`" not in rows[name]]
        assert missing == [], name


def test_every_exit_status_is_documented() -> None:
    first = [row.split("|")[1] for row in re.findall(r"^\| \d.*\|$", section("Exit status"), re.MULTILINE)]
    told = {int(number) for cell in first for number in re.findall(r"\d+", cell)}
    others = {1, 2, NOT_UNDERSTOOD_STATUS, BUDGET_STATUS, TIMED_OUT, INTERRUPTED, BROKEN_PIPE, 143}
    assert told == {*STATUS.values(), NOT_ASKED, *others}


def test_every_command_is_documented() -> None:
    told = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    assert [name for name in COMMANDS if f"`accord {name}" not in told and f"\naccord {name}" not in told] == []

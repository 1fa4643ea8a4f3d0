"""Writes `docs/requirements.md`: which test proves which rule of the protocol.

`docs/ledger.csv` lists the rules as facts: an id, whom it binds, how strongly, how settled it is. A test names the
rules that it proves, `@pytest.mark.req("V1-FRAME-27")`. Some tests compute their marks while pytest collects them, so
pytest itself is asked. Run it with `make ledger`."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FACTS = HERE / "ledger.csv"
PAGE = HERE / "requirements.md"

AREAS = {
    "FRAME": "framing, JSON-RPC",
    "INIT": "the first exchange",
    "AUTH": "logging in and out",
    "SETUP": "new sessions",
    "LOAD": "loading sessions",
    "RESUME": "resuming sessions",
    "LIST": "listing sessions",
    "CLOSE": "closing and deleting sessions",
    "FORK": "forks, archives, status, titles",
    "PROMPT": "prompts",
    "STATE": "the state of a session",
    "CANCEL": "cancelling",
    "UPD": "updates",
    "CONTENT": "content",
    "TOOL": "tool calls",
    "DIFF": "changes to files",
    "PERM": "permissions",
    "PLAN": "plans",
    "MODE": "modes",
    "CONF": "options",
    "CMD": "slash commands",
    "FS": "files of the client",
    "TERM": "terminals",
    "MCP": "MCP servers",
    "ELIC": "forms and pages",
    "EXT": "extensions",
    "USAGE": "usage",
    "NOTICE": "notices and compaction",
    "SUBAG": "subagents",
    "MODEL": "model selection of old",
    "HTTP": "HTTP",
    "WS": "WebSocket",
    "PROXY": "proxies",
    "MCPACP": "MCP through the client",
    "PROV": "providers",
    "NES": "edit suggestions",
    "REG": "the registry of agents",
    "SDK": "what libraries owe",
    "SCH": "types",
}

HEAD = """\
# Rules of the protocol, and the tests that prove them

Made by `make ledger` from [ledger.csv](ledger.csv) and the marks of the tests; not edited by hand. A rule is named by
its protocol version, its area and a number. `stability` is `seed` for what was there from the beginning, `stable` and
`unstable` for what the published schemas call so, `draft` for what is only proposed.
"""

LATER = ("HTTP", "WS", "PROXY", "MCPACP", "NES", "REG")
"""Areas that this release does not touch, but for their types."""


class Rule(NamedTuple):
    """One row of the ledger. `subject` is the type that a rule about types is about."""

    id: str
    area: str
    binds: str
    level: str
    stability: str
    subject: str

    @property
    def version(self) -> str:
        return self.id[1]


class Proof(NamedTuple):
    """A test that names a rule: its file from the project's root, and its function."""

    file: str
    function: str

    def link(self) -> str:
        return f"[{self.function.removeprefix('test_').replace('_', ' ')}](../{self.file})"


class Collector:
    """A plugin of pytest that reads the marks of everything collected."""

    def __init__(self) -> None:
        self.proofs: dict[str, set[Proof]] = {}

    def pytest_collection_modifyitems(self, items: Iterable[Any]) -> None:
        for item in items:
            proof = Proof(item.path.relative_to(ROOT).as_posix(), getattr(item, "originalname", None) or item.name)
            for mark in item.iter_markers("req"):
                for id in mark.args:
                    self.proofs.setdefault(id, set()).add(proof)


def rules() -> list[Rule]:
    """The ledger, in its own order."""
    with FACTS.open(newline="", encoding="utf-8") as file:
        return [Rule(**row) for row in csv.DictReader(file)]


def proofs() -> dict[str, list[Proof]]:
    """The tests of each rule that has any. Exits when the tests cannot be collected."""
    import pytest

    collector, said = Collector(), io.StringIO()
    words = [
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--rootdir",
        str(ROOT),
        str(ROOT / "tests"),
    ]
    with contextlib.redirect_stdout(said):
        status = pytest.main(words, plugins=[collector])
    if status != pytest.ExitCode.OK:
        sys.exit(f"the tests cannot be collected:\n{said.getvalue()[-4000:]}")
    return {id: sorted(found) for id, found in collector.proofs.items()}


def page(known: list[Rule], proved: dict[str, list[Proof]]) -> str:
    """The whole document."""
    lines = [HEAD]
    for version, of_version in by_version(known):
        lines += [f"## Version {version}\n"]
        for area, group in by_area(of_version):
            lines += table(area, group, proved)
    lines += missing(known, proved)
    lines += counts(known, proved)
    return "\n".join(lines)


def table(area: str, group: list[Rule], proved: dict[str, list[Proof]]) -> Iterator[str]:
    """The rules of one area."""
    typed = area == "SCH"
    yield f"### {area}: {AREAS[area]}\n"
    yield "| id | type | binds | level | stability | tests |" if typed else "| id | binds | level | stability | tests |"
    yield "|---|---|---|---|---|---|" if typed else "|---|---|---|---|---|"
    for rule in group:
        subject = [rule.subject] if typed else []
        tests = "; ".join(proof.link() for proof in proved.get(rule.id, ())) or "–"
        yield f"| {' | '.join([rule.id, *subject, rule.binds, rule.level, rule.stability, tests])} |"
    yield ""


def missing(known: list[Rule], proved: dict[str, list[Proof]]) -> Iterator[str]:
    """What no test names."""
    yield "## Not covered yet\n"
    yield f"Not part of this release, but for their types: {', '.join(AREAS[area] for area in LATER)}.\n"
    yield "| area | musts | the rest |"
    yield "|---|---|---|"
    for version, of_version in by_version(known):
        for area, group in by_area(of_version):
            left = [rule for rule in group if rule.id not in proved]
            musts = ", ".join(rule.id for rule in left if rule.level.startswith("MUST"))
            rest = ", ".join(rule.id for rule in left if not rule.level.startswith("MUST"))
            if left:
                yield f"| V{version} {AREAS[area]} | {musts or '–'} | {rest or '–'} |"
    yield ""


def counts(known: list[Rule], proved: dict[str, list[Proof]]) -> Iterator[str]:
    """How much is covered, by version and area."""
    yield "## Counts\n"
    yield "| area | version 1 | version 2 |"
    yield "|---|---|---|"
    for area, title in AREAS.items():
        cells = [share([r for r in known if r.area == area and r.version == version], proved) for version in "12"]
        yield f"| {area}: {title} | {' | '.join(cells)} |"
    whole = [share([rule for rule in known if rule.version == version], proved) for version in "12"]
    yield f"| all | {' | '.join(whole)} |\n"


def share(group: list[Rule], proved: dict[str, list[Proof]]) -> str:
    return f"{sum(rule.id in proved for rule in group)} of {len(group)}" if group else "–"


def by_version(known: list[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    for version, group in groupby(known, key=lambda rule: rule.version):
        yield version, list(group)


def by_area(of_version: list[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    for area, group in groupby(of_version, key=lambda rule: rule.area):
        yield area, list(group)


def main() -> None:
    known, proved = rules(), proofs()
    unknown = sorted(set(proved) - {rule.id for rule in known})
    if unknown:
        sys.exit(f"marks name rules that docs/ledger.csv does not have: {', '.join(unknown)}")
    PAGE.write_text(page(known, proved), encoding="utf-8")
    covered = sum(rule.id in proved for rule in known)
    print(f"{PAGE.relative_to(ROOT)}: {covered} of {len(known)} rules have a test")


if __name__ == "__main__":
    main()

"""The log of decisions."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from policy.fixtures import policy, run, write

from accord.policy.action import Action
from accord.policy.audit import Audit
from accord.policy.decision import Decision
from accord.policy.rule import parse_rule

ALLOWED = Decision(effect="allow", by="rule", why="because", rule=parse_rule("allow command:make"), source="user")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "decisions.jsonl"


def audit(path: Path, **settings: Any) -> Audit:
    return Audit(path, **{"clock": lambda: 1_800_000_000.5, **settings})


async def test_every_decision_is_written_with_what_and_why_and_by_which_rule(path: Path) -> None:
    judged = policy("allow command:make", "deny path:**/.env", audit=audit(path))
    await judged.answer(run("make"))
    await judged.answer(write(".env"))
    await judged.answer(run("unknown"))
    entries = list(audit(path).entries())
    assert entries[0] == {
        "time": "2027-01-15T08:00:00.500Z",
        "effect": "allow",
        "by": "rule",
        "why": "allowed by a command-line option: allow command:make (make)",
        "rule": "allow command:make",
        "source": "flags",
        "kind": "command",
        "command": "make",
        "cwd": "/work/app",
        "session": "s1",
        "project": "/work/app",
        "asked": False,
    }
    assert [(entry["effect"], entry["by"], entry.get("rule")) for entry in entries[1:]] == [
        ("deny", "rule", "deny path:**/.env"),
        ("deny", "nobody", None),
    ]
    assert audit(path).rules_used() == {"allow command:make", "deny path:**/.env"}


async def test_a_question_that_is_broken_off_is_written_as_a_denial(path: Path) -> None:
    async def fail(question: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await policy(audit=audit(path)).answer(run("make"), ask=fail)
    [entry] = audit(path).entries()
    assert (entry["effect"], entry["why"]) == ("deny", "the permission request was cancelled")


def test_the_log_is_for_its_owner_alone_and_only_grows(path: Path) -> None:
    for _ in range(2):
        audit(path).record(run("make"), ALLOWED)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().splitlines()) == 2


def test_one_entry_is_one_line_whatever_is_in_it(path: Path) -> None:
    log = audit(path)
    log.record(run("a\n{}\u2028\x00\ud800"), ALLOWED)
    log.record(Action(kind="write", title="x" * 100_000, paths=("/p",) * 1000), ALLOWED)
    lines = path.read_bytes().splitlines()
    assert len(lines) == 2 and log.lost == 0
    assert len(lines[1]) < 10_000
    assert json.loads(lines[1])["title"].endswith("… (100000 characters)")


def test_secrets_are_masked(path: Path) -> None:
    log = audit(path, secrets=["hunter2"])
    line = "curl -H 'Authorization: Bearer abcdefghijkl' -u x:hunter2 https://me:pw@a.b?api_key=123"
    log.record(run(line, env={"API_KEY": "abc123"}), ALLOWED)
    text = path.read_text()
    for secret in ("abcdefghijkl", "hunter2", "pw@", "=123", "abc123"):
        assert secret not in text
    assert json.loads(text)["env"] == ["API_KEY"]


def test_a_full_file_is_moved_aside_and_old_ones_go(path: Path) -> None:
    log = audit(path, max_bytes=2000, keep=2)
    for number in range(60):
        log.record(run(f"make {number}"), ALLOWED)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        "decisions.jsonl",
        "decisions.jsonl.1",
        "decisions.jsonl.2",
        "decisions.jsonl.lock",
    ]
    assert sum(entry.stat().st_size for entry in path.parent.iterdir()) < 3 * 2500
    numbers = [int(entry["command"].split()[1]) for entry in log.entries()]
    assert numbers == list(range(numbers[0], 60))


def test_a_log_that_cannot_be_written_is_reported_once_and_stops_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    log = audit(path, on_problem=told.append)

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        for _ in range(3):
            log.record(run("make"), ALLOWED)
    assert told == [f"decisions aren't being logged to {path}: No space left on device"]
    assert log.lost == 3
    log.record(run("make"), ALLOWED)
    assert len(list(log.entries())) == 1


def test_a_line_that_was_cut_off_does_not_spoil_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = audit(path, on_problem=lambda words: None)
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: real(handle, data[:10]))
        log.record(run("make"), ALLOWED)
    log.record(run("test"), ALLOWED)
    assert [entry["command"] for entry in log.entries()] == ["test"]


def test_a_problem_that_cannot_be_reported_stops_nothing(tmp_path: Path) -> None:
    def fail(words: str) -> None:
        raise RuntimeError

    (tmp_path / "file").write_text("")
    audit(tmp_path / "file" / "log", on_problem=fail).record(run("make"), ALLOWED)


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "victim").write_text("")
    path.symlink_to(tmp_path / "victim")
    log = audit(path, on_problem=lambda words: None)
    log.record(run("make"), ALLOWED)
    assert log.lost == 1 and (tmp_path / "victim").read_text() == ""


def test_the_log_itself_is_protected(path: Path) -> None:
    judged = policy("allow path:/**", audit=audit(path))
    for name in (path, path.with_name("decisions.jsonl.1")):
        assert judged.decide(write(str(name))).by == "protection"

"""The attention list: what clients publish, what others read, and what stays after a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from accord.status import attention_list
from accord.status.attention_list import CRASHED, AttentionList
from accord.status.entry import SessionStatus, State, describe
from accord.status.publisher import Publisher


def session(id: str = "s1", state: State = "running", **more: str) -> SessionStatus:
    return SessionStatus(id=id, agent="claude", cwd="/project", state=state, **more)  # type: ignore[arg-type]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def found(tmp_path: Path, clock: Clock) -> AttentionList:
    return AttentionList(tmp_path / "status", clock=clock)


@pytest.fixture
def publisher(found: AttentionList, clock: Clock) -> Publisher:
    return Publisher(found.directory, clock=clock)


def test_without_any_client_the_list_is_empty_and_creates_nothing(found: AttentionList) -> None:
    assert found.read() == []
    assert not found.directory.exists()


def test_the_most_urgent_sessions_come_first(found: AttentionList, publisher: Publisher, clock: Clock) -> None:
    publisher.publish([session("a", "idle"), session("b", "running"), session("c", "waiting", why="Run make")])
    clock.now += 5
    other = Publisher(found.directory, clock=clock)
    other.publish([session("d", "waiting"), session("e", "failed")])
    assert [each.id for each in found.read()] == ["d", "c", "e", "b", "a"]
    publisher.close()
    other.close()


def test_the_age_counts_from_the_last_change_of_state(found: AttentionList, publisher: Publisher, clock: Clock) -> None:
    publisher.publish([session(title="one")])
    clock.now += 10
    publisher.publish([session(title="two")])
    assert [(each.title, each.since) for each in found.read()] == [("two", 1000.0)]
    publisher.publish([session(state="waiting")])
    assert found.read()[0].since == 1010.0
    publisher.close()


def test_nothing_is_written_without_a_change(found: AttentionList, publisher: Publisher) -> None:
    publisher.publish([session()])
    (written,) = found.directory.glob("*.json")
    written.unlink()
    publisher.publish([session()])
    assert not written.exists()
    publisher.close()


def test_files_are_private_and_removed_at_the_end(found: AttentionList, publisher: Publisher) -> None:
    publisher.publish([session()])
    assert found.directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in found.directory.iterdir()} == {0o600}
    publisher.close()
    assert list(found.directory.iterdir()) == [] and found.read() == []


def test_what_ended_unseen_stays_until_it_is_seen(found: AttentionList, publisher: Publisher) -> None:
    publisher.publish([session("a", "finished"), session("b", "failed"), session("c", "running"), session("d", "idle")])
    publisher.close(unseen=True)
    assert {each.id for each in found.read()} == {"a", "b"}
    found.mark_seen("b")
    assert [each.id for each in found.read()] == ["a"]
    found.mark_seen()
    assert found.read() == []


def test_a_session_that_runs_again_is_listed_once(found: AttentionList, publisher: Publisher) -> None:
    found.keep([session("a", "finished", title="old")])
    publisher.publish([session("a", "running", title="new")])
    assert [each.title for each in found.read()] == ["new"]
    publisher.close()


def test_what_ended_is_limited_in_number_and_age(
    found: AttentionList, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention_list, "MAX_ENTRIES", 2)
    found.keep([msgspec.structs.replace(session(f"s{number}", "finished"), since=clock.now) for number in range(3)])
    assert {each.id for each in found.read()} == {"s1", "s2"}
    clock.now += attention_list.KEPT_SECONDS + 1
    assert found.read() == []


def test_a_killed_process_is_reported_and_does_not_lie(found: AttentionList, clock: Clock) -> None:
    program = (
        "import sys; from pathlib import Path; from accord.status.publisher import Publisher;"
        "from accord.status.entry import SessionStatus as S; p = Publisher(Path(sys.argv[1]), clock=lambda: 1000.0);"
        "p.publish([S(id=s, agent='a', cwd='/', state=s) for s in ('running', 'waiting', 'finished', 'idle')]);"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(found.directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        assert [each.state for each in found.read()] == ["waiting", "finished", "running", "idle"]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    after = {each.id: (each.state, each.why) for each in found.read()}
    assert after == {"running": ("failed", CRASHED), "waiting": ("failed", CRASHED), "finished": ("finished", "")}
    assert {path.name for path in found.directory.iterdir()} == {"ended.json", "ended.guard"}


@pytest.mark.parametrize("data", [b"", b"[{", b"{}", b"[1]", b"[" + b" " * 300_000 + b"]"])
def test_a_damaged_list_counts_as_empty(found: AttentionList, publisher: Publisher, data: bytes) -> None:
    publisher.publish([session()])
    (written,) = found.directory.glob("*.json")
    written.write_bytes(data)
    assert found.read() == []
    publisher.close()


def test_texts_are_sanitized_redacted_and_truncated(found: AttentionList, publisher: Publisher) -> None:
    assert describe("a\x1b[2Jb\nc " + "x" * 500) == "a␛[2Jb c " + "x" * 70 + "…"
    assert "hunter2" not in describe("deploy with API_KEY=hunter2hunter2")
    publisher.publish([session(title="x\x1b[2Jy")])
    assert found.read()[0].title == "x␛[2Jy", "another program may have written it"
    publisher.close()


def test_a_directory_that_is_not_writable_turns_publishing_off(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("in the way")
    publisher = Publisher(tmp_path / "status")
    publisher.publish([session()])
    publisher.publish([session(state="waiting")])
    publisher.close(unseen=True)
    assert (tmp_path / "status").read_text() == "in the way"


def test_the_command_to_open_a_session_quotes_its_words() -> None:
    status = SessionStatus(id="s 1", agent="python agent.py", cwd="/my project", state="idle")
    assert status.open_command == "cd '/my project' && accord chat 'python agent.py' --session 's 1'"

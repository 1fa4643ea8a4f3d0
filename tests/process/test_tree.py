"""The members of a process family."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from process.processes import is_alive, until

from accord.process import tree
from accord.process.tree import Family, Process, read_process, read_ps, signal_process


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_a_process_is_read_whatever_its_name(tmp_path: Path) -> None:
    program = tmp_path / "a) Z 1 (b"
    program.symlink_to("/bin/sleep")
    sleeper = subprocess.Popen([program, "600"], start_new_session=True)
    process = read_process(sleeper.pid)
    sleeper.kill()
    sleeper.wait()

    assert process is not None
    assert (process.parent, process.group, process.session) == (os.getpid(), sleeper.pid, sleeper.pid)


def test_one_that_is_dead_but_not_buried_counts_as_gone(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    until(lambda: not is_alive(sleeper.pid))

    assert os.path.exists(f"/proc/{sleeper.pid}")
    assert read_process(sleeper.pid) is None


def test_a_number_that_was_given_to_another_process_is_not_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    now = read_process(sleeper.pid)
    assert now is not None and now.start is not None
    signal_process(Process(now.pid, now.parent, now.group, now.session, now.start - 1), signal.SIGKILL)
    assert sleeper.poll() is None
    signal_process(now, signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL


def test_a_session_whose_number_was_used_again_is_not_ours(sleeper: subprocess.Popen[bytes]) -> None:
    family = Family("no-such-mark")
    family.set_root(sleeper.pid)
    assert [member.pid for member in family.find_members()] == [sleeper.pid]
    assert family.root_start is not None

    stranger = Family("no-such-mark")
    stranger.set_root(sleeper.pid)
    stranger.root_start = family.root_start - 1
    assert stranger.find_members() == []


def test_the_stages_end_once_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    family = Family("mark")
    monkeypatch.setattr(family, "signal", sent.append)
    monkeypatch.setattr(family, "has_members", lambda: signal.SIGKILL not in sent)
    for pause in tree.end_family(family, 2.0):
        now += pause

    assert sent == [signal.SIGTERM, signal.SIGCONT, signal.SIGKILL]
    assert now == pytest.approx(2.0)


def test_one_that_cannot_be_killed_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    family = Family("mark")
    monkeypatch.setattr(family, "signal", lambda number: None)
    monkeypatch.setattr(family, "has_members", lambda: True)
    for pause in tree.end_family(family, 0.0):
        now += pause

    assert now == pytest.approx(tree.KILL_SECONDS)


def test_the_output_of_ps_is_parsed() -> None:
    text = """\
      1     0     1 Ss   /sbin/launchd
    501     1   501 S    /usr/bin/agent --acp HOME=/Users/x ACCORD_CHILD=feed:beef
    502   501   501 Z    (sh)
    503   501   503 S+   sleep 600
    """
    rows = {row.pid: row for row in read_ps(text, "beef")}

    assert sorted(rows) == [1, 501, 503]
    assert [pid for pid, row in rows.items() if row.is_marked] == [501]
    assert (rows[503].parent, rows[503].group, rows[503].start) == (501, 503, None)


def test_a_family_is_found_without_proc_by_asking_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '600'], env={}, start_new_session=True).wait()"
    child = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, tree.MARKER_VARIABLE: "c0ffee"})
    until(lambda: any(row.parent == child.pid for row in tree.every_process("c0ffee", None)))
    monkeypatch.setattr(tree, "_HAS_PROC", False)
    monkeypatch.setattr(tree, "PS", ["ps", "axeww", "-o", "pid=,ppid=,pgid=,stat=,args="])  # Linux spells it otherwise
    family = Family("c0ffee")
    family.set_root(child.pid)

    assert len(family.find_members()) == 2
    family.signal(signal.SIGKILL)
    child.wait()
    until(lambda: not family.has_members())

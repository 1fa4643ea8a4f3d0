"""The agent's end: the real standard input and output, separate from everything that prints."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from support.receiver import BOUND

AGENT = Path(__file__).with_name("echo_agent.py")
HELLO = [b"ready", b"mischief done"]
LINES = [b'{"n":%d,"x":"%s"}' % (number, b"x" * 500) for number in range(2000)]
SCRIPT = b"\n".join(LINES) + b"\n"


# Buffers are what makes output appear late and in the wrong place, so the test needs them.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def start(stdin: int | IO[bytes], stdout: int | IO[bytes], *mischief: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, AGENT, *mischief]
    return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=BUFFERED)


def converse(*mischief: str, script: bytes = b"one\ntwo\n") -> tuple[list[bytes], str]:
    """Return the output and the standard error over pipes."""
    with start(subprocess.PIPE, subprocess.PIPE, *mischief) as agent:
        out, err = agent.communicate(script, timeout=BOUND)
    assert agent.returncode == 0, err.decode()
    return out.splitlines(), err.decode()


@pytest.mark.req("V1-FRAME-07", "V1-FRAME-12", "V2-FRAME-06")
def test_over_pipes_every_line_comes_back_and_the_agent_ends_with_its_input() -> None:
    out, err = converse(script=SCRIPT)
    assert out == HELLO + LINES
    assert err == ""


@pytest.mark.req("V1-FRAME-08", "V1-FRAME-10", "V2-FRAME-02")
def test_nothing_that_prints_reaches_the_wire() -> None:
    out, err = converse("print_something", "write_to_1", "run_shell", "run_child", "printf", "leave_in_the_buffer")
    assert out == [*HELLO, b"one", b"two"]
    for stray in ("print", "print to the first object", "os.write", "shell", "child ''", "printf", "without newline"):
        assert f"stray {stray}" in err


def test_an_output_stream_of_the_authors_own_making_is_turned_away_too() -> None:
    code = """
import os, sys
sys.stdout = os.fdopen(os.dup(1), "w")
print("before", end="")
from accord.transports.stdout_guard import guard_stdio
guard_stdio()
print("stray")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=BUFFERED)
    assert b"stray" not in done.stdout
    assert b"stray" in done.stderr


def test_what_was_printed_before_and_not_written_yet_stays_off_the_wire() -> None:
    code = "print('before'); from accord.transports.stdout_guard import guard_stdio; os_fd = guard_stdio().stdout"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=BUFFERED)
    assert done.stdout == b""
    assert done.stderr == b"before\n"


def test_nobody_else_can_read_what_comes_over_the_wire() -> None:
    out, err = converse("read_stdin")
    assert out == [*HELLO, b"one", b"two"]
    assert "stdin says ''" in err


def test_after_closing_the_streams_are_given_back() -> None:
    out, _ = converse("print_something", "print_at_the_end")
    assert out == [*HELLO, b"one", b"two", b"given back"]


def test_input_from_a_file_is_answered_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "requests").write_bytes(SCRIPT)
    with (tmp_path / "requests").open("rb") as requests, start(requests, subprocess.PIPE) as agent:
        out, _ = agent.communicate(timeout=BOUND)
    assert out.splitlines() == HELLO + LINES
    assert agent.returncode == 0


def test_output_to_a_file_is_complete(tmp_path: Path) -> None:
    with (tmp_path / "answers").open("wb") as answers, start(subprocess.PIPE, answers, "write_to_1") as agent:
        _, err = agent.communicate(SCRIPT, timeout=BOUND)
    assert (tmp_path / "answers").read_bytes().splitlines() == HELLO + LINES
    assert err == b"stray os.write\n"


def test_from_a_file_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "requests").write_bytes(SCRIPT)
    with (
        (tmp_path / "requests").open("rb") as requests,
        (tmp_path / "answers").open("wb") as answers,
        start(requests, answers) as agent,
    ):
        agent.communicate(timeout=BOUND)
    assert (tmp_path / "answers").read_bytes().splitlines() == HELLO + LINES


def test_a_full_disk_ends_the_agent_instead_of_hanging_it() -> None:
    with open("/dev/full", "wb") as full, start(subprocess.PIPE, full) as agent:
        agent.communicate(timeout=BOUND)
    assert agent.returncode != 0


def test_over_sockets_as_node_gives_them() -> None:
    ours, theirs = socket.socketpair()
    with ours, start(theirs.fileno(), theirs.fileno(), "write_to_1") as agent:
        theirs_blocks = os.get_blocking(theirs.fileno())
        theirs.close()
        ours.settimeout(BOUND)
        ours.sendall(b"one\ntwo\n")
        ours.shutdown(socket.SHUT_WR)
        heard = b""
        while chunk := ours.recv(65536):
            heard += chunk
        assert agent.wait(BOUND) == 0
    assert heard.splitlines() == [*HELLO, b"one", b"two"]
    assert theirs_blocks


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal that passes bytes as they are: the screen's end, and the program's end."""
    screen, program = pty.openpty()
    tty.setraw(program)
    yield screen, program
    os.close(screen)
    os.close(program)


def test_over_a_terminal_which_is_not_left_changed(terminal: tuple[int, int]) -> None:
    screen, program = terminal
    with start(program, program, "write_to_1") as agent:
        assert read(screen, len(b"ready\nmischief done\n")) == b"ready\nmischief done\n"
        os.write(screen, b"one\n")
        assert read(screen, 4) == b"one\n"
        assert os.get_blocking(program), "not even while it runs"
        agent.send_signal(signal.SIGKILL)
        agent.wait(BOUND)
    assert os.get_blocking(program)


def test_a_pipe_that_others_hold_too_is_not_left_changed() -> None:
    reading, writing = os.pipe()
    with start(subprocess.PIPE, writing) as agent:
        assert read(reading, 6) == b"ready\n"
        assert os.get_blocking(writing)
        agent.send_signal(signal.SIGKILL)
        agent.wait(BOUND)
    os.close(reading)
    os.close(writing)


def test_standard_error_on_the_same_pipe_is_not_disturbed() -> None:
    with subprocess.Popen(
        [sys.executable, AGENT, "flood_stderr"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as agent:
        out, _ = agent.communicate(b"one\n", timeout=BOUND)
    assert agent.returncode == 0
    assert sum(line.endswith(b"e" * 1017) for line in out.splitlines()) == 5000
    assert out.splitlines()[-1] == b"one"


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1 2"])
def test_standard_streams_that_are_closed_do_no_harm(closed: str) -> None:
    command = " ".join(f"{fd}>&-" for fd in closed.split())
    shell = ["/bin/sh", "-c", f'exec "$0" "$1" print_something {command}', sys.executable, str(AGENT)]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as agent:
        out, err = agent.communicate(b"one\n", timeout=BOUND)
    assert agent.returncode == 0, err.decode()
    expected = {"0": HELLO, "1": [], "2": [*HELLO, b"one"], "0 1 2": []}[closed]
    assert out.splitlines() == expected
    assert b"ready" not in err


def test_the_guard_loads_next_to_nothing() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from accord.transports.stdout_guard import guard_stdio; guard_stdio();"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, source], capture_output=True, check=True, text=True)
    assert not {"asyncio", "msgspec", "typing", "socket", "subprocess"} & set(done.stderr.split())


def read(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size and (chunk := os.read(fd, size - len(data))):
        data += chunk
    return data

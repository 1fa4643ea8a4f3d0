"""The client's end: an agent started as a child process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from support.receiver import BOUND, Listener

from accord.errors import ConnectionClosed, LaunchError, PeerDied
from accord.transports import subprocess
from accord.transports.gate import Gate
from accord.transports.subprocess import SubprocessTransport

ECHO = [sys.executable, str(Path(__file__).with_name("echo_agent.py"))]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def launch(argv: list[str], **options: float) -> tuple[SubprocessTransport, Listener]:
    transport = await SubprocessTransport.launch(argv, **options)  # type: ignore[arg-type]
    heard = Listener()
    transport.start(heard)
    return transport, heard


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit status and the rest of the output are reported, however long this machine takes to deliver them."""
    monkeypatch.setattr(subprocess, "EXIT_STATUS_SECONDS", BOUND)
    monkeypatch.setattr(subprocess, "OUTPUT_GRACE_SECONDS", BOUND)


@pytest.mark.req("V1-FRAME-05", "V1-FRAME-12", "V2-FRAME-03", "V2-FRAME-05", "V2-FRAME-06")
@pytest.mark.usefixtures("engine")
async def test_an_agent_is_started_spoken_with_and_ended() -> None:
    transport, heard = await launch(ECHO)
    for number in range(1000):
        await transport.send(b"%d\n" % number)
    lines = await heard.until_heard(1002)
    await transport.close()
    await transport.close()

    assert sorted(lines) == sorted([b"ready", b"mischief done", *(b"%d" % number for number in range(1000))])
    assert [line for line in lines if line.isdigit()] == [b"%d" % number for number in range(1000)]
    assert transport.child.status == 0
    assert heard.endings == [None]
    with pytest.raises(ConnectionClosed):
        transport.send(b"too late\n")


@pytest.mark.req("V1-FRAME-06", "V2-FRAME-05")
async def test_an_agent_sees_the_end_of_its_input_before_it_is_terminated() -> None:
    code = "import sys; sys.stdin.read(); open(sys.argv[1], 'w').write('saw the end')"
    reading, writing = os.pipe()
    argv = [*python(code), f"/proc/{os.getpid()}/fd/{writing}"]
    transport, _ = await launch(argv)
    await transport.close()

    assert os.read(reading, 100) == b"saw the end"
    assert transport.child.status == 0
    os.close(reading)
    os.close(writing)


async def test_an_agent_has_five_seconds_to_end_after_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []

    async def wait_for(waiting: Awaitable[Any], timeout: float | None) -> Any:
        given.append(timeout)
        return await waiting

    transport, _ = await launch(python("import sys; sys.stdin.read()"))
    monkeypatch.setattr(asyncio, "wait_for", wait_for)
    await transport.close()

    assert transport.child.status == 0
    assert 5.0 in given


@pytest.mark.parametrize(
    "code, term_grace, status",
    [
        ("import time; print('up', flush=True); time.sleep(60)", BOUND, -signal.SIGTERM),
        (
            "import time, signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
            0.1,
            -signal.SIGKILL,
        ),
    ],
    ids=["ignores the end of input", "ignores SIGTERM too"],
)
async def test_an_agent_that_does_not_end_by_itself_is_ended_in_stages(
    code: str, term_grace: float, status: int
) -> None:
    transport, heard = await launch(python(code), stdin_grace=0.05, term_grace=term_grace)
    await heard.until_heard(1)
    await asyncio.wait_for(transport.close(), BOUND)

    assert transport.child.status == status


@pytest.mark.usefixtures("engine", "patient")
async def test_an_agent_that_dies_is_reported_with_status_and_last_words() -> None:
    code = "import sys; sys.stdin.readline(); print('half', end=''); print('No API key', file=sys.stderr); sys.exit(3)"
    transport, heard = await launch(python(code))
    await transport.send(b"hello\n")
    error = await heard.until_ended()

    assert isinstance(error, PeerDied)
    assert str(error).endswith("exited with status 3; standard error: No API key")
    assert error.status == 3
    assert error.stderr == "No API key"
    assert error.command == transport.describe()
    assert error.command.startswith(f"`{sys.executable} -c")
    assert heard.heard == b"half", "what it said before is heard"
    assert len(heard.endings) == 1
    with pytest.raises(ConnectionClosed, match="status 3"):
        transport.send(b"hello?\n")
    await transport.close()
    assert len(heard.endings) == 1


@pytest.mark.usefixtures("patient")
async def test_an_agent_that_was_killed_is_reported_by_the_name_of_the_signal() -> None:
    transport, heard = await launch(python("import os; os.kill(os.getpid(), 9)"))
    error = await heard.until_ended()

    assert isinstance(error, PeerDied)
    assert "was killed by SIGKILL; nothing on standard error" in str(error)
    assert error.status == -9
    await transport.close()


async def test_a_waiting_sender_gets_the_exit_error() -> None:
    transport, heard = await launch(python("import sys; print('up', flush=True); sys.stdin.buffer.raw.read(100)"))
    await heard.until_heard(1)
    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(_await(transport.send(b"x" * 5_000_000 + b"\n")), BOUND)
    assert isinstance(await heard.until_ended(), PeerDied)
    await transport.close()


async def test_an_agent_that_only_closes_its_output_is_reported_and_ended() -> None:
    code = "import os, time; os.close(1); time.sleep(60)"
    transport, heard = await launch(python(code), stdin_grace=0.05, term_grace=BOUND)
    error = await heard.until_ended()

    assert isinstance(error, PeerDied)
    assert "is still running" in str(error)
    assert error.status is None
    assert await asyncio.wait_for(transport.child.wait(), BOUND) == -signal.SIGTERM
    await transport.close()


async def test_the_death_is_noticed_though_a_grandchild_holds_the_output() -> None:
    code = "import os, sys, subprocess; subprocess.Popen(['sleep', '60']); print('last', flush=True); os._exit(4)"
    transport, heard = await launch(python(code), term_grace=1.0)
    error = await heard.until_ended()

    assert isinstance(error, PeerDied) and error.status == 4
    assert heard.heard == b"last\n"
    await transport.close()


@pytest.mark.usefixtures("patient")
async def test_what_a_dead_agent_wrote_is_heard_even_if_reading_was_paused() -> None:
    code = "import sys; sys.stdin.readline(); print('last', flush=True); sys.exit(5)"
    transport, heard = await launch(python(code))
    transport.pause()
    transport.send(b"go\n")
    await asyncio.wait_for(transport.child.wait(), BOUND)
    await asyncio.sleep(0)
    assert heard.blocks == [] and heard.endings == []
    transport.resume()
    error = await heard.until_ended()

    assert heard.heard == b"last\n"
    assert isinstance(error, PeerDied) and error.status == 5
    await transport.close()


@pytest.mark.req("V1-FRAME-10", "V1-FRAME-11", "V2-FRAME-04")
@pytest.mark.parametrize("size", [300_000, 5_000_000])
@pytest.mark.usefixtures("engine")
async def test_an_agent_that_floods_standard_error_while_streaming_does_not_get_stuck(size: int) -> None:
    code = f"""
import sys
for number in range(1000):
    print(number, flush=True)
    sys.stderr.write("e" * ({size} // 1000) + "\\n")
sys.stderr.write("the end\\n")
sys.stdin.read()
"""
    transport, heard = await launch(python(code))
    assert await heard.until_heard(1000) == [b"%d" % number for number in range(1000)]
    await transport.close()

    assert transport.stderr_tail().endswith("e\nthe end")
    assert len(transport.stderr_tail()) <= 64 * 1024
    assert transport.child.status == 0


async def test_an_agent_that_keeps_writing_during_close_can_exit_by_itself() -> None:
    code = "import sys; sys.stdin.read(); sys.stdout.write('x' * 5_000_000 + '\\n'); sys.exit(0)"
    transport, heard = await launch(python(code), stdin_grace=BOUND)
    transport.pause()
    await asyncio.wait_for(transport.close(), BOUND)

    assert transport.child.status == 0
    assert heard.blocks == [], "it was read, and not heard"


@pytest.mark.req("V1-FRAME-02", "V2-FRAME-01")
async def test_a_line_of_100_megabytes_goes_there_and_back() -> None:
    transport, heard = await launch(["cat"])
    line = b'{"text":"' + b"x" * 100_000_000 + b'"}\n'
    await transport.send(line)
    await heard.until(lambda: bool(heard.blocks))

    assert heard.blocks == [line]
    await transport.close()


async def test_oversized_lines_are_skipped_and_the_connection_continues() -> None:
    transport, heard = await launch(["cat"], max_message_bytes=1_000_000)
    await transport.send(b"before\n")
    await transport.send(b"y" * 3_000_000 + b"\n")
    await transport.send(b"after\n")
    await heard.until_heard(2)

    assert heard.story == [b"before", 3_000_000, b"after"]
    await transport.close()


async def test_cancelling_a_close_kills_at_once() -> None:
    code = "import time, signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    transport, heard = await launch(python(code), stdin_grace=60.0, term_grace=60.0)
    await heard.until_heard(1)
    closing = asyncio.ensure_future(transport.close())
    await asyncio.sleep(0.05)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing

    assert transport.child.status == -signal.SIGKILL


async def test_each_line_of_standard_error_can_be_listened_to() -> None:
    said: list[str] = []
    code = "import sys; sys.stderr.write('grüße\\nzwei\\nohne Ende')"
    transport = await SubprocessTransport.launch(
        python(code), env={**os.environ, "PYTHONUTF8": "1"}, on_stderr=said.append
    )
    heard = Listener()
    transport.start(heard)
    await heard.until_ended()
    await transport.close()

    assert said == ["grüße", "zwei", "ohne Ende"]


async def test_a_command_that_does_not_exist_is_named() -> None:
    with pytest.raises(LaunchError, match="'no-such-agent' isn't on the PATH; install it") as caught:
        await SubprocessTransport.launch(["no-such-agent", "--acp"])
    assert caught.value.command == "`no-such-agent --acp`"
    assert caught.value.stage == "spawn"


async def _await(awaitable: object) -> None:
    await awaitable  # type: ignore[misc]


async def test_a_failure_before_the_sender_awaits_is_still_raised() -> None:
    gate = Gate(asyncio.get_running_loop())
    gate.shut()
    gate.open(ConnectionClosed("gone"))
    with pytest.raises(ConnectionClosed, match="gone"):
        await _await(gate)

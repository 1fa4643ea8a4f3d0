"""An agent that a user starts in a terminal explains itself, and still speaks the protocol."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}
ECHO = Path(__file__).resolve().parents[2] / "examples" / "echo_agent.py"


def greet(stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(ECHO)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ECHO.parent
    )


def test_a_terminal_shows_what_the_agent_is_and_how_to_use_it() -> None:
    ours, theirs = pty.openpty()
    program = greet(theirs)
    os.close(theirs)
    try:
        assert program.stdout is not None and program.stderr is not None
        first, second = program.stderr.readline(), program.stderr.readline()
        os.write(ours, json.dumps(HELLO).encode() + b"\n")
        answer = json.loads(program.stdout.readline())
    finally:
        program.kill()
        program.communicate()
        os.close(ours)
    assert b"is an ACP agent" in first
    assert second.decode().strip() == f"To use it, press Ctrl-C and run: accord chat 'python {ECHO}'"
    assert answer["result"]["protocolVersion"] == 1


def test_a_client_that_starts_it_on_pipes_sees_nothing_of_that() -> None:
    done = subprocess.run(
        [sys.executable, str(ECHO)], input=json.dumps(HELLO).encode() + b"\n", capture_output=True, check=True
    )
    assert json.loads(done.stdout)["id"] == 0
    assert done.stderr == b""

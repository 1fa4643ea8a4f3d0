"""Start a Python program many times: one process imports it, and every start is a fork of that process.

For tests that kill hundreds of processes. A start costs a few milliseconds of CPU time instead of a hundred."""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple


class Forked(NamedTuple):
    """A running copy of the program."""

    pid: int
    stdin: BinaryIO
    stdout: BinaryIO

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """A process that has imported a program and runs its function `start` in forks."""

    def __init__(self, program: Path) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(program), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> Forked:
        """Run the program with these arguments, and these variables in addition to the usual ones."""
        stdin, our_stdin = os.pipe()
        our_stdout, stdout = os.pipe()
        request = json.dumps({"arguments": arguments, "env": dict(env or {})}).encode()
        try:
            socket.send_fds(self._socket, [request], [stdin, stdout])
        finally:
            os.close(stdin)
            os.close(stdout)
        pid = int(self._socket.recv(64))
        return Forked(pid, os.fdopen(our_stdin, "wb", buffering=0), os.fdopen(our_stdout, "rb"))

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()


def serve(program: str, requests: socket.socket) -> None:
    """Run the program for every request. Children are never waited for: callers check that a killed one has ended."""
    start = runpy.run_path(program, run_name="program")["start"]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # they leave no zombies
    while True:
        request, (stdin, stdout), _, _ = socket.recv_fds(requests, 65536, 2)
        asked = json.loads(request)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            for fd, number in ((stdin, 0), (stdout, 1)):
                os.dup2(fd, number)
                os.close(fd)
            os.environ.update(asked["env"])
            sys.argv = [program, *asked["arguments"]]
            start()
            os._exit(0)
        os.close(stdin)
        os.close(stdout)
        requests.send(str(pid).encode())


if __name__ == "__main__":
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))

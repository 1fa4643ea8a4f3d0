"""A program for tests that starts others, in a way that makes them hard to find: `descendants.py KIND TOKEN MARKER`.

They are `sleep`s whose name has the token, so that they are found whatever their environment is. The file MARKER is
created after the first one was started: it may end before anybody sees it."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import time

KINDS = ("fork", "session", "daemon", "deaf", "wiped", "kills keeper", "kills supervisor")
MANY = 20


def main(kind: str, token: str, marker: str) -> None:
    for number in range(MANY):
        start(kind, token)
        if number == 0:
            open(marker, "w").close()
        if number == 1 and kind.startswith("kills"):
            keeper = os.getppid()
            os.kill(keeper if kind == "kills keeper" else parent_of(keeper), signal.SIGKILL)
        time.sleep(0.005)
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        while select.select([0], [], []) and os.read(0, 65536):
            pass
    else:
        signal.pause()


def start(kind: str, token: str) -> None:
    is_daemon = kind not in ("fork", "session", "deaf")
    first = os.fork()
    if first:
        if is_daemon:
            os.waitpid(first, 0)
        return
    if kind == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if kind not in ("fork", "deaf"):
        os.setsid()
    if is_daemon and os.fork():
        os._exit(0)
    environment = dict(os.environ) if kind in ("fork", "session", "daemon", "deaf") else {}
    os.execve("/bin/sleep", [f"sleep-{token}", "600"], environment)


def parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


if __name__ == "__main__":
    main(*sys.argv[1:])

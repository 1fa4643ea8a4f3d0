"""A program for tests: an agent with a difficult family. Prints the process id of every member, then waits.

`family_agent.py KIND...`: deaf (ignores SIGTERM), session (starts its own), daemon (forks twice, in its own session),
wiped (the same without environment), bare (its own session and no environment), stopped (SIGSTOP); all of them
deaf. "ignoring": so is the agent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


def main() -> None:
    if "ignoring" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), flush=True)
    for kind in sys.argv[1:]:
        if kind in ("daemon", "wiped"):
            daemon({} if kind == "wiped" else dict(os.environ))
        elif kind != "ignoring":
            options = {"env": {}} if kind == "bare" else {}
            command = [sys.executable, "-c", DEAF]
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, start_new_session=kind in ("session", "bare"), **options
            )
            assert child.stdout is not None
            child.stdout.readline()
            if kind == "stopped":
                child.send_signal(signal.SIGSTOP)
            print(child.pid, flush=True)
    print("all", flush=True)
    if "ignoring" in sys.argv:
        while True:
            signal.pause()
    sys.stdin.read()


def daemon(environment: dict[str, str]) -> None:
    """As daemons are made: forked twice, so that its parent is gone."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.set_inheritable(writing, True)
            os.dup2(writing, 1)
            code = "import os; print(os.getpid(), flush=True);" + DEAF
            os.execve(sys.executable, [sys.executable, "-c", code], environment)
        os._exit(0)
    os.wait()
    os.close(writing)
    with os.fdopen(reading, "rb") as announced:
        pid = announced.readline()
        announced.readline()
    print(int(pid), flush=True)


if __name__ == "__main__":
    main()

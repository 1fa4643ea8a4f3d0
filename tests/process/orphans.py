"""Kill clients that have started other programs, and count the processes that are left: `orphans.py [KILLS]`.

Every way in which Accord starts programs is combined with every kind of program (see `descendants`). The client is
killed (-9) at a random moment after the first process started, KILLS times each. `make orphans` prints the table."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from descendants import KINDS  # noqa: E402

DESCENDANTS = [sys.executable, str(HERE / "descendants.py")]
ACCORD = [sys.executable, "-P", "-m", "accord"]
AT_ONCE = 4
BOUND = 60.0
CONNECT = "import accord, asyncio, sys; asyncio.run(accord.connect(sys.argv[1:], cwd='/').__aenter__())"
TERMINALS = """
import asyncio, sys
from accord.workspace.terminals import Terminals
async def main():
    terminals = Terminals()
    while True:
        id = await terminals.create("s", sys.argv[1], sys.argv[2:], cwd="/")
        await asyncio.sleep(0.1)
        await terminals.release(id)
asyncio.run(main())
"""


class Count(NamedTuple):
    """The result for one way of starting and one kind of program."""

    killed: int
    started: int
    """Clients that had started a program before they were killed."""
    seen: int
    """Processes that were alive at the moment of the kill."""
    left: int


@contextmanager
def plain(argv: list[str], folder: str) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    yield subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet, env=environment(folder), cwd=folder)


@contextmanager
def on_terminal(argv: list[str], folder: str) -> Iterator[subprocess.Popen[bytes]]:
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as reading:
        variables = {**environment(folder), "TERM": "xterm-256color"}
        process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, cwd=folder, start_new_session=True
        )
        os.close(theirs)
        reading.submit(_read_all, ours)
        yield process
        process.kill()
    os.close(ours)


@contextmanager
def coder(argv: list[str], folder: str) -> Iterator[subprocess.Popen[bytes]]:
    """The built-in agent, which runs a command itself for a client without terminals."""
    process = subprocess.Popen(
        [*ACCORD, "agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(folder),
        cwd=folder,
    )
    with ThreadPoolExecutor(1) as talking:
        talking.submit(_drive, process, argv, folder)
        yield process
        process.kill()
    process.communicate()


def _drive(process: subprocess.Popen[bytes], argv: list[str], folder: str) -> None:
    assert process.stdin is not None and process.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    with suppress(OSError):
        send({"id": 1, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}})
        send({"id": 2, "method": "session/new", "params": {"cwd": folder, "mcpServers": []}})
        for line in process.stdout:
            message = json.loads(line)
            if message.get("id") == 2 and "result" in message:
                command = " ".join(f"'{word}'" for word in argv)
                prompt = [{"type": "text", "text": f"run `{command}`"}]
                params = {"sessionId": message["result"]["sessionId"], "prompt": prompt}
                send({"id": 3, "method": "session/prompt", "params": params})
            elif message.get("method") == "session/request_permission":
                allow = next(each for each in message["params"]["options"] if each["kind"].startswith("allow"))
                outcome = {"outcome": "selected", "optionId": allow["optionId"]}
                send({"id": message["id"], "result": {"outcome": outcome}})


def _read_all(fd: int) -> None:
    with suppress(OSError):
        while os.read(fd, 65536):
            pass


WAYS: dict[str, tuple[Callable[..., Any], Callable[[list[str]], list[str]]]] = {
    "accord run": (plain, lambda brood: [*ACCORD, "run", "--agent", " ".join(f"'{w}'" for w in brood), "hello"]),
    "accord chat": (on_terminal, lambda brood: [*ACCORD, "chat", " ".join(f"'{w}'" for w in brood)]),
    "connect()": (plain, lambda brood: [sys.executable, "-P", "-c", CONNECT, *brood]),
    "terminals": (plain, lambda brood: [sys.executable, "-P", "-c", TERMINALS, *brood]),
    "accord agent": (coder, lambda brood: brood),
}


def environment(folder: str) -> dict[str, str]:
    homes = {f"ACCORD_{name}_HOME": os.path.join(folder, name) for name in ("CONFIG", "DATA", "CACHE")}
    return {**os.environ, **homes, "HOME": folder}


def find_brood(token: str) -> list[int]:
    """The living processes that a brood started."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                if file.read().startswith(f"sleep-{token}".encode()):
                    found.append(int(name))
    return found


def kill_once(way: str, kind: str, moment: float) -> Count:
    token = os.urandom(8).hex()
    begin, argv = WAYS[way]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        marker = os.path.join(folder, "started")
        with begin(argv([*DESCENDANTS, kind, token, marker]), folder) as process:
            end = time.monotonic() + BOUND
            while not (started := os.path.exists(marker)) and process.poll() is None and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(moment)  # the moment is the subject
            seen = len(find_brood(token))
            process.send_signal(signal.SIGKILL)
            process.wait()
        end = time.monotonic() + BOUND
        while (left := find_brood(token)) and time.monotonic() < end:
            time.sleep(0.02)
    for pid in left:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return Count(1, started, seen, len(left))


def kill(way: str, kind: str, kills: int, at_once: int = AT_ONCE) -> Count:
    moments = [random.uniform(0.0, 0.12) for _ in range(kills)]
    with ThreadPoolExecutor(at_once) as threads:
        counts = list(threads.map(lambda moment: kill_once(way, kind, moment), moments))
    return Count(*map(sum, zip(*counts, strict=True)))


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    left = 0
    print(f"{'':14}" + "".join(f"{kind:>18}" for kind in KINDS) + f"   ({kills} kills each: left of those seen)")
    for way in WAYS:
        print(f"{way:14}", end="", flush=True)
        for kind in KINDS:
            count = kill(way, kind, kills)
            left += count.left
            print(f"{f'{count.left} of {count.seen}':>18}", end="", flush=True)
        print()
    print(f"{left} processes were left")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

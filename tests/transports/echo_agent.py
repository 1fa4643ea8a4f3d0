"""A program for tests: guards its standard streams, sends back every line it gets, and does mischief meanwhile.

`echo_agent.py [MISCHIEF...]`; each word names a function below."""

from __future__ import annotations

import sys

from accord.transports.stdout_guard import guard_stdio

STREAMS = guard_stdio()  # before anything else is loaded, as `python -m accord.serve` does

import asyncio  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402

from accord.transports.stdio import StdioTransport  # noqa: E402


def print_something() -> None:
    print("stray print")
    print("stray print to the first object", file=sys.__stdout__)


def write_to_1() -> None:
    os.write(1, b"stray os.write\n")


def run_shell() -> None:
    os.system("echo stray shell")


def run_child() -> None:
    subprocess.run([sys.executable, "-c", "import sys; print('stray child', repr(sys.stdin.read()))"], check=True)


def printf() -> None:
    import ctypes

    ctypes.CDLL(None).printf(b"stray printf\n")  # stays in the buffer of the C library until the end


def read_stdin() -> None:
    print("stdin says", repr(sys.stdin.read()))


def flood_stderr() -> None:
    for number in range(5000):
        os.write(2, b"%05d " % number + b"e" * 1017 + b"\n")


def leave_in_the_buffer() -> None:
    sys.__stdout__.write("stray without newline")


def print_at_the_end() -> None:
    """See below."""


class Echo:
    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.waiting: list[object] = []

    def on_lines(self, block: bytes) -> None:
        transport.send(block)

    def on_oversized(self, head: bytes, size: int) -> None:
        transport.send(b"too long: %d\n" % size)

    def on_end(self, error: Exception | None) -> None:
        self.over.set()


async def main() -> None:
    global transport
    transport = StdioTransport(STREAMS)
    assert StdioTransport.open()._streams is STREAMS
    echo = Echo()
    transport.start(echo)
    transport.send(b"ready\n")
    for name in sys.argv[1:]:
        globals()[name]()
    transport.send(b"mischief done\n")
    await echo.over.wait()
    await transport.close()


if __name__ == "__main__":
    asyncio.run(main())
    if "print_at_the_end" in sys.argv:
        print("given back")

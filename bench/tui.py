"""The terminal client under load: from a key to the screen, from the start to the prompt, and memory.

A key is pressed and the time is taken until its letter comes out of the terminal: in an empty session where nothing
happens, and in a session of ten thousand messages while the agent streams two thousand pieces a second; in turns, some
keys here and some there. Then the agent says one long message, and the time is taken until its end is seen, and seen
again in a window of another size. The start is measured beside the smallest Textual application that has a line to type
in, in turns. Goals: at the 95th percentile a key takes at most twice as long, a start at most one and a half times, and
the end of the message is there within a second of its being said and of the change. Status 1 when one is missed."""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import shlex
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

KEYS, START, LONG = 2.0, 1.5, 1.0
ROUND = 30
"""Keys pressed in one session before switching to the other."""
READY = "● ready".encode()
MINIMAL = """
from textual.app import App
from textual.widgets import Input
class Smallest(App):
    def compose(self):
        yield Input(placeholder="the prompt")
Smallest().run()
"""


class Terminal:
    """A program on its own terminal, whose output is read continuously."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: str, size: tuple[int, int] = (120, 40)) -> None:
        self.started = time.perf_counter()
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=cwd, start_new_session=True
        )
        os.close(theirs)
        self._seen = b""

    def until(self, wanted: bytes, within: float = 60.0) -> float:
        """Wait until this is printed, and return the time."""
        end = time.perf_counter() + within
        while True:
            place = self._seen.find(wanted)
            if place >= 0:
                self._seen = self._seen[place + len(wanted) :]
                return time.perf_counter()
            self._seen = self._seen[-200:]
            left = end - time.perf_counter()
            if left <= 0 or not select.select([self._ours], [], [], left)[0]:
                raise TimeoutError(f"{wanted.decode()!r} did not come within {within:g} s")
            read = os.read(self._ours, 1 << 16)
            if b"\x1b[c" in read:  # a query that every terminal answers
                os.write(self._ours, b"\x1b[?6c")
            self._seen += read

    def drain(self, seconds: float) -> None:
        """Read and discard output for a while."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self._ours], [], [], left)[0]:
                try:
                    self._seen = os.read(self._ours, 1 << 16)[-200:]
                except OSError:  # the program has ended
                    return

    def press(self, keys: str) -> float:
        os.write(self._ours, keys.encode())
        return time.perf_counter()

    def resize(self, size: tuple[int, int]) -> float:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process.send_signal(signal.SIGWINCH)
        return time.perf_counter()

    def megabytes(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1000
        return 0.0

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        end = time.perf_counter() + 10
        while self.process.poll() is None and time.perf_counter() < end:
            self.drain(0.05)
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=150, help="keys to press in each session (default 150)")
    parser.add_argument("--starts", type=int, default=9, help="pairs of starts (default 9)")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=2_000, help="pieces a second")
    parser.add_argument("--long", type=int, default=500_000, help="characters of the long message (default 500,000)")
    given = parser.parse_args()
    parts = (
        lambda env, folder: keys(given, env, folder),
        lambda env, folder: long_message(given.long, env, folder),
        lambda env, folder: starts(given.starts, env, folder),
    )
    good = True
    for part in parts:  # in separate directories, so that one doesn't find the other's draft
        with tempfile.TemporaryDirectory() as folder:
            good = part(_environment(folder), folder) and good
    return 0 if good else 1


def keys(given: argparse.Namespace, env: dict[str, str], folder: str) -> bool:
    agent = shlex.join([sys.executable, str(Path(__file__).resolve()), "--as-agent"])
    command = [sys.executable, "-m", "accord", "chat", agent]
    quiet = Terminal(command, env, folder)
    try:
        full = Terminal(command, env, folder)
        try:
            return _rounds(given, quiet, full)
        finally:
            full.close()
    finally:
        quiet.close()


def _rounds(given: argparse.Namespace, quiet: Terminal, full: Terminal) -> bool:
    """Press keys in both sessions in turns, so that other load affects both."""
    quiet.until(READY)
    full.until(READY)
    empty = full.megabytes()
    full.press(f"\x15fill {given.messages}\r")
    full.until(b"filled", within=180)
    full.until(READY, within=60)
    filled = full.megabytes()
    idle: list[float] = []
    busy: list[float] = []
    while len(busy) < given.keys:
        numbers = range(len(busy), min(len(busy) + ROUND, given.keys))
        full.drain(0.5)
        quiet.drain(0.5)
        idle += [_key(quiet, number) for number in numbers]
        full.press(f"\x15stream {given.rate} 600\r")
        full.until(b"working")
        full.drain(1.0)
        busy += [_key(full, number) for number in numbers]
        full.press("\x1b")
        full.until(READY)
    streamed = full.megabytes()
    before, after = _percentile(idle), _percentile(busy)
    ratio = after / before
    print(f"a key in an empty session {before:.1f} ms, while {given.rate} pieces a second come in a session of")
    print(f"{given.messages} messages {after:.1f} ms (95th percentile of {given.keys}; medians {_median(idle):.1f} and")
    print(f"{_median(busy):.1f} ms); ratio {ratio:.2f}, goal at most {KEYS:g}: {_verdict(ratio <= KEYS)}")
    print(f"memory: {empty:.0f} MB empty, {filled:.0f} MB filled, {streamed:.0f} MB after streaming")
    return ratio <= KEYS


def long_message(length: int, env: dict[str, str], folder: str) -> bool:
    agent = shlex.join([sys.executable, str(Path(__file__).resolve()), "--as-agent"])
    terminal = Terminal([sys.executable, "-m", "accord", "chat", agent], env, folder)
    try:
        terminal.until(READY)
        terminal.drain(1.0)
        begun = terminal.press(f"\x15long {length}\r")  # clears an earlier client's draft
        terminal.until(b"THE-END-OF-IT", within=120)
        said = time.time()
        took = time.perf_counter() - begun
        sent = float((Path(folder) / "said").read_text())
        terminal.drain(2.0)
        begun = terminal.resize((100, 30))
        again = terminal.until(b"THE-END-OF-IT", within=120) - begun
    finally:
        terminal.close()
    late = said - sent
    good = late <= LONG and again <= LONG
    print(
        f"the end of a message of {length} characters is seen {late:.2f} s after the agent said it ({took:.2f} s after"
    )
    print(f"the key), and again {again:.2f} s after a change of size; goal at most {LONG:g} s: {_verdict(good)}")
    return good


def _key(terminal: Terminal, number: int) -> float:
    """Return the milliseconds from a key to its letter on the screen. Each letter is unique on the screen."""
    if number % 30 == 29:
        terminal.press("\x15")
        terminal.drain(0.1)
    letter = chr(0x4E00 + number)
    begun = terminal.press(letter)
    took = terminal.until(letter.encode()) - begun
    terminal.drain(0.03 + (number % 7) * 0.004)
    return 1000 * took


def starts(count: int, env: dict[str, str], folder: str) -> bool:
    smallest = [sys.executable, "-c", MINIMAL]
    agent = shlex.join([sys.executable, str(Path(__file__).resolve()), "--as-agent"])
    ours = [sys.executable, "-m", "accord", "chat", agent]
    pairs = []
    for number in range(count + 1):
        pair = (_start(smallest, b"prompt", env, folder), _start(ours, "╭".encode(), env, folder))
        if number:  # the first one warms up the disk cache and bytecode
            pairs.append(pair)
    ratio = statistics.median(b / a for a, b in pairs)
    floor, took = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"the smallest application draws its prompt after {floor:.0f} ms, accord chat after {took:.0f} ms")
    print(f"ratio {ratio:.2f}, goal at most {START:g}: {_verdict(ratio <= START)}")
    return ratio <= START


def _start(command: list[str], wanted: bytes, env: dict[str, str], folder: str) -> float:
    terminal = Terminal(command, env, folder)
    try:
        return terminal.until(wanted) - terminal.started
    finally:
        terminal.close()


def _environment(folder: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "NO_COLOR")}
    ours |= {f"ACCORD_{name}_HOME": folder for name in ("CONFIG", "DATA", "CACHE")}
    return ours | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _percentile(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _verdict(good: bool) -> str:
    return "reached" if good else "MISSED"


def agent() -> None:
    """The agent of the benchmark: fills a session, or streams at a fixed rate."""
    import asyncio

    from accord import Agent, Turn, run

    class Fast(Agent):
        async def prompt(self, turn: Turn) -> None:
            words = turn.text.split()
            if words[0] == "fill":
                for number in range(int(words[1])):
                    role = "user" if number % 2 == 0 else "agent"
                    text = f"Message {number}: some *words* with `code`, and a list\n\n- one\n- two\n"
                    update = {"sessionUpdate": f"{role}_message_chunk", "messageId": f"m{number}"}
                    await turn.session.update(1, {**update, "content": {"type": "text", "text": text}})
                await turn.say("filled")
            elif words[0] == "long":
                for number in range(int(words[1]) // 50):
                    await turn.say(f"Part {number:6} of a message with *some* words.\n\n")
                Path("said").write_text(str(time.time()))  # noqa: ASYNC240  # one small write
                await turn.say("THE-END-OF-IT")
            elif words[0] == "stream":
                rate, seconds = int(words[1]), float(words[2])
                loop = asyncio.get_running_loop()
                begun, said = loop.time(), 0
                while (past := loop.time() - begun) < seconds:
                    while said < past * rate:
                        said += 1
                        await turn.say("word " if said % 40 else "and a paragraph ends.\n\n")
                    await asyncio.sleep(0.005)

    run(Fast())


if __name__ == "__main__":
    if "--as-agent" in sys.argv:
        agent()
    else:
        sys.exit(main())

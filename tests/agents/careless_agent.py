"""An agent with the mistakes of careless authors. The first word of a prompt names the method to call."""

# ruff: noqa: ASYNC220, ASYNC221  # it blocks the event loop on purpose

from __future__ import annotations

import os
import subprocess
import sys

import accord

SLEEPER = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


class Careless(accord.Agent):
    async def prompt(self, turn: accord.Turn) -> None:
        word, _, number = turn.text.partition(" ")
        await getattr(self, word)(turn, int(number or 0))

    async def stderr(self, turn: accord.Turn, size: int) -> None:
        """Write `size` bytes to standard error at once, before any update."""
        sys.stderr.write(("e" * 99 + "\n") * (size // 100))
        sys.stderr.flush()
        await turn.say("written")

    async def prints(self, turn: accord.Turn, _: int) -> None:
        """Print in every possible way between two updates."""
        await turn.say("before ")
        print("printed by a handler")
        sys.stdout.write("half a line")
        sys.stdout.flush()
        os.write(1, b"written to the descriptor\n")
        subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
        os.system("echo printed by a shell")
        await turn.say("after")

    async def family(self, turn: accord.Turn, _: int) -> None:
        """Start a child and, through a shell that exits, a grandchild; both ignore SIGTERM."""
        child = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
        shell = f'"{sys.executable}" -c "{SLEEPER}" & echo $!'
        orphan = subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and orphan.stdout is not None
        child.stdout.readline()
        pid = int(orphan.stdout.readline())
        orphan.stdout.readline()
        await turn.say(f"{child.pid} {pid}")

    async def counts(self, turn: accord.Turn, number: int) -> None:
        """Send `number` chunks."""
        for each in range(number):
            await turn.say(f"{each} ")

    async def dies(self, turn: accord.Turn, status: int) -> None:
        print("no API key", file=sys.stderr, flush=True)
        os._exit(status)


if __name__ == "__main__":
    accord.run(Careless())

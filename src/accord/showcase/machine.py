"""Terminals and files: the client's own where it offers them, the agent's display terminal otherwise."""

from __future__ import annotations

import sys

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.showcase.stage import Stage

COLOURS = (
    "".join(f"\x1b[{code}m {code} \x1b[0m" for code in range(31, 38))
    + "\r\n"
    + "".join(f"\x1b[48;5;{code}m {code} \x1b[0m" for code in (196, 202, 226, 46, 21, 93))
    + "\r\n\x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munderlined\x1b[0m \x1b[38;2;255;120;0mtrue colour\x1b[0m\r\n"
)
# What the client runs. Python, because it is there wherever this agent is, and no shell is like another.
PAINT = f"import sys; sys.stdout.write({COLOURS!r})"
COUNT = (
    "import sys, time\n"
    "for n in range(0, 101, 10):\n"
    "    sys.stdout.write(f'\\r{n:3d}% ' + '#' * (n // 5)); sys.stdout.flush(); time.sleep(0.02)\n"
    "print()"
)
FAIL = "import sys; print('this went wrong', file=sys.stderr); sys.exit(3)"
WAIT = "import time; print('waiting to be killed', flush=True); time.sleep(600)"
TALK = "for n in range(2000): print('line', n)"
FILE = "accord-showcase.txt"
TEXT = "one\ntwo\nthree\n"


class Machine(Stage):
    """Terminals and files."""

    topic = "Terminals and files"

    @command("terminal", "Colours, progress, exit codes, a failing command, one that is killed", hint="client or own")
    async def show_terminal(self, turn: Turn) -> None:
        wanted = turn.argument.strip()
        if wanted == "client" and not turn.client.terminals:
            await turn.say("This client offers no terminals.")
        elif turn.client.terminals and wanted != "own":
            await self._of_the_client(turn)
        else:
            await self._of_our_own(turn)

    async def _of_the_client(self, turn: Turn) -> None:
        for title, script in (("Colours", PAINT), ("Progress", COUNT), ("A failing command", FAIL)):
            async with (
                turn.tool(title, kind="execute", raw_input={"command": script}) as tool,
                await turn.terminals.create(sys.executable, ["-c", script], env={"SHOWCASE": "1"}) as terminal,
            ):
                await tool.show(terminal)
                status = await terminal.wait()
                output = await terminal.output()
                raw = {"exitCode": status.code, "signal": status.signal, "output": output.text}
                if status.code == 0:
                    await tool.complete(raw)
                else:
                    await tool.update(status="failed", raw_output=raw)
            await turn.say(f"{title}: exit code {status.code}.\n")
        async with (
            turn.tool("Only the last 64 bytes are kept", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-c", TALK], output_limit=64) as terminal,
        ):
            await tool.show(terminal)
            await terminal.wait()
            output = await terminal.output()
        await turn.say(f"Limited: {len(output.text.encode())} bytes, {'cut' if output.truncated else 'whole'}.\n")
        async with (
            turn.tool("A command that is killed", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-c", WAIT]) as terminal,
        ):
            await tool.show(terminal)
            await terminal.kill()
            status = await terminal.wait()
        await turn.say(f"Killed: signal {status.signal}, exit code {status.code}.\n")

    async def _of_our_own(self, turn: Turn) -> None:
        async with turn.tool("Colours and progress", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --paint")
            await tool.show(terminal)
            await terminal.write(COLOURS)
            for percent in range(0, 101, 10):
                await terminal.write(f"\r{percent:3d}% " + "#" * (percent // 5))
                await self.pause()
            await terminal.write("\r\n")
            # A character cut in two: what a terminal prints is bytes, and pieces need not end where characters do.
            for piece in ("ü".encode()[:1], "ü".encode()[1:], b"\r\n"):
                await terminal.write(piece)
            await terminal.exit(0)
        async with turn.tool("A failing command", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --fail")
            await tool.show(terminal)
            await terminal.write("\x1b[31mthis went wrong\x1b[0m\r\n")
            await terminal.exit(3)
            await tool.update(status="failed", raw_output={"exitCode": 3})
        async with turn.tool("A command that is killed", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --wait", cwd="subfolder")
            await tool.show(terminal)
            await self.pause()
            await terminal.exit(None, "SIGKILL")
            await tool.update(status="failed", raw_output={"signal": "SIGKILL"})
        await turn.say("These were terminals of the agent's own; the client only shows them.")

    @command("files", "Reads and writes a file through the client, asking first")
    async def show_files(self, turn: Turn) -> None:
        if not (turn.client.read_files or turn.client.write_files):
            await turn.say("This client offers no files; version 2 has no such thing.")
            return
        if turn.client.write_files and await turn.permit(f"Write {FILE}", kind="edit", locations=[FILE]):
            async with turn.tool(f"Write {FILE}", kind="edit", locations=[FILE]) as tool:
                await turn.files.write(FILE, TEXT)
                await tool.diff(FILE, None, TEXT)
            await turn.say(f"Written: {len(TEXT)} characters.\n")
        if turn.client.read_files:
            await self._read(turn, "All", FILE)
            await self._read(turn, "The second line", FILE, line=2, limit=1)
            await self._read(turn, "A file that is not there", "accord-showcase-absent.txt")

    async def _read(self, turn: Turn, what: str, path: str, line: int | None = None, limit: int | None = None) -> None:
        place = path if line is None else f"{path}:{line}"
        try:
            async with turn.tool(f"{what}: {path}", kind="read", locations=[place]) as tool:
                text = await turn.files.read(path, line=line, limit=limit)
                await tool.show(text)
        except RequestFailed as error:
            await turn.say(f"{what}: error {error.code}, {error.message}.\n")
        else:
            await turn.say(f"{what}: {text!r}.\n")

"""Terminals and files: the client's if it offers them, otherwise display terminals of the agent."""

from __future__ import annotations

import sys

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.showcase.topic import Topic

COLORS = (
    "".join(f"\x1b[{code}m {code} \x1b[0m" for code in range(31, 38))
    + "\r\n"
    + "".join(f"\x1b[48;5;{code}m {code} \x1b[0m" for code in (196, 202, 226, 46, 21, 93))
    + "\r\n\x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munderlined\x1b[0m \x1b[38;2;255;120;0mtrue color\x1b[0m\r\n"
)
# The client runs these. They are Python because it's installed wherever this agent is, while shells differ.
PAINT = f"import sys; sys.stdout.write({COLORS!r})"
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


class Terminals(Topic):
    """Terminals and files."""

    title = "Terminals and files"

    @command("terminal", "Colors, progress, exit codes, a failing command, one that is killed", hint="client or own")
    async def show_terminal(self, turn: Turn) -> None:
        choice = turn.argument.strip()
        if choice == "client" and not turn.client.offers.terminals:
            await turn.say("This client doesn't offer terminals.")
        elif turn.client.offers.terminals and choice != "own":
            await self._show_client_terminals(turn)
        else:
            await self._show_display_terminals(turn)

    async def _show_client_terminals(self, turn: Turn) -> None:
        for title, script in (("Colors", PAINT), ("Progress", COUNT), ("A failing command", FAIL)):
            async with self.in_time(turn, title):
                await self._run(turn, title, script)
        async with self.in_time(turn, "Limited"):
            async with (
                turn.tool("Keeping only the last 64 bytes", kind="execute") as tool,
                await turn.terminals.create(sys.executable, ["-I", "-c", TALK], output_limit=64) as terminal,
            ):
                await tool.show(terminal)
                await terminal.wait()
                output = await terminal.output()
            await turn.say(
                f"Limited: {len(output.text.encode())} bytes, {'truncated' if output.truncated else 'complete'}.\n"
            )
        async with self.in_time(turn, "Killed"):
            async with (
                turn.tool("A command that is killed", kind="execute") as tool,
                await turn.terminals.create(sys.executable, ["-I", "-c", WAIT]) as terminal,
            ):
                await tool.show(terminal)
                await terminal.kill()
                status = await terminal.wait()
            await turn.say(f"Killed: signal {status.signal}, exit code {status.code}.\n")

    async def _run(self, turn: Turn, title: str, script: str) -> None:
        async with (
            turn.tool(title, kind="execute", raw_input={"command": script}) as tool,
            await turn.terminals.create(sys.executable, ["-I", "-c", script], env={"SHOWCASE": "1"}) as terminal,
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

    async def _show_display_terminals(self, turn: Turn) -> None:
        async with turn.tool("Colors and progress", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --paint")
            # Display terminals have no parameter for their size. Version 1 has no size at all; nothing is sent there.
            size = {"sessionUpdate": "terminal_update", "terminalId": terminal.id, "size": {"cols": 80, "rows": 24}}
            await turn.session.update(2, size)
            await tool.show(terminal)
            await terminal.write(COLORS)
            for percent in range(0, 101, 10):
                await terminal.write(f"\r{percent:3d}% " + "#" * (percent // 5))
                await self.pause()
            await terminal.write("\r\n")
            # A character split in two: terminal output is bytes, and chunks needn't end at a character boundary.
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
            terminal = turn.display_terminal("showcase --wait", cwd="subdirectory")
            await tool.show(terminal)
            await self.pause()
            await terminal.exit(None, "SIGKILL")
            await tool.update(status="failed", raw_output={"signal": "SIGKILL"})
        await turn.say("These were display terminals: they run nothing in the client, which only shows them.")

    @command("files", "Reads and writes a file through the client, asking first")
    async def show_files(self, turn: Turn) -> None:
        if not (turn.client.offers.read_files or turn.client.offers.write_files):
            await turn.say("This client doesn't offer files (version 2 has no such feature).")
            return
        if turn.client.offers.write_files and await turn.permit(f"Write {FILE}", kind="edit", locations=[FILE]):
            async with self.in_time(turn, "Written"):
                async with turn.tool(f"Write {FILE}", kind="edit", locations=[FILE]) as tool:
                    await turn.files.write(FILE, TEXT)
                    await tool.diff(FILE, None, TEXT)
                await turn.say(f"Written: {len(TEXT)} characters.\n")
        if turn.client.offers.read_files:
            async with self.in_time(turn, "All"):
                await self._read(turn, "All", FILE)
            async with self.in_time(turn, "The second line"):
                await self._read(turn, "The second line", FILE, line=2, limit=1)
            async with self.in_time(turn, "A missing file"):
                await self._read(turn, "A missing file", "accord-showcase-absent.txt")

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

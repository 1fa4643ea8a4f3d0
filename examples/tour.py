"""The program behind `make tour`: a client starts an agent, sends one prompt, and shows everything that happens.

The agent (tour_agent.py) is a separate process. The file that it reads and changes exists only in memory here, offered
to the agent as an editor offers its open files. Permission requests go to the terminal, if there is one."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import accord

HERE = Path(__file__).parent
AGENT = [sys.executable, str(HERE / "tour_agent.py"), *sys.argv[1:]]
FILE = os.path.abspath("hello.py")
PROMPT = "Correct the greeting in hello.py, please."

PYTHON = os.path.relpath(sys.executable) if sys.executable.startswith(os.getcwd()) else "python"
CLIENT = os.path.relpath(HERE / "streaming_client.py")
NEXT = f"Next: write an agent (docs/agents.md), then watch it: {PYTHON} {CLIENT} COMMAND"

BOLD, DIM, RED, GREEN, YELLOW, BLUE = "1", "2", "31", "32", "33", "34"
COLORS = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
LABELS = {"you": BLUE, "agent": BLUE, "thinks": DIM, "plan": YELLOW, "tool": GREEN, "asks": RED}
MARKS = {"pending": "○", "in_progress": "◐", "completed": "●", "failed": "✗", "cancelled": "✗"}
MARGIN = 9


class Screen(accord.Workspace):
    """The files on the user's screen: the only ones that the agent may use."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        if path not in self.files:
            raise accord.NotFound(f"there is no file {path}")
        lines = self.files[path].splitlines(keepends=True)[(line or 1) - 1 :]
        return "".join(lines if limit is None else lines[:limit])

    async def write(self, session_id: str, path: str, text: str) -> None:
        self.files[path] = text


class Page:
    """Prints events, with a label in the margin."""

    def __init__(self) -> None:
        self._label = ""
        self._column = 0
        self._gap = ""  # pending space, until the next word is placed
        self._width = min(shutil.get_terminal_size().columns, 100)
        self._plan: dict[str, str] = {}
        self._calls: dict[str, str] = {}
        self._diffs: set[str] = set()

    def show(self, event: accord.Event) -> None:
        """Print one event of the turn."""
        match event:
            case accord.Text(text=text):
                self.stream("agent", text)
            case accord.Thought(text=text):
                self.stream("thinks", text, DIM)
            case accord.Plan(entries=entries):
                for entry in entries:
                    if self._plan.get(entry.content) != entry.status:
                        self.line("plan", f"{MARKS.get(entry.status, '?')} {entry.content}")
                    self._plan[entry.content] = entry.status
            case accord.ToolCall():
                self._show_call(event)

    def _show_call(self, call: accord.ToolCall) -> None:
        if self._calls.get(call.id) != call.status and call.status != "pending":
            self.line(
                "tool", f"{MARKS.get(call.status, '?')} {call.kind}: {call.title}, {call.status.replace('_', ' ')}"
            )
        self._calls[call.id] = call.status
        if call.diffs and call.id not in self._diffs:
            self._diffs.add(call.id)
            for line in call.diffs[0].patch.partition("@@\n")[2].splitlines():
                self.line("tool", f"    {line}", GREEN if line.startswith("+") else RED)

    def line(self, label: str, text: str, style: str = "", end: str = "\n") -> None:
        """Print a separate line."""
        self._begin(label)
        print(paint(text, style), end=end, flush=True)
        self._column = 0

    def stream(self, label: str, text: str, style: str = "") -> None:
        """Print streamed text, wrapped between words."""
        if label != self._label:
            self._begin(label)
        for piece in re.findall(r"\s+|\S+", text):
            if piece.isspace():
                self._gap = piece
                continue
            if "\n" in self._gap or self._column + len(self._gap + piece) > self._width:
                print(f"\n{'':{MARGIN}}", end="")
                self._column, self._gap = MARGIN, ""
            print(paint(self._gap + piece, style), end="", flush=True)
            self._column += len(self._gap + piece)
            self._gap = ""

    def end(self) -> None:
        """End the output with a line."""
        print("\n" if self._column else "")

    def _begin(self, label: str) -> None:
        if self._column:
            print()
        if label != self._label:
            print(f"\n{paint(f'{label:<{MARGIN}}', LABELS[label])}", end="")
        else:
            print(" " * MARGIN, end="")
        self._label, self._column, self._gap = label, MARGIN, ""


def paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if COLORS and style and text.strip() else text


async def typed_line() -> str:
    """Read a line from the user without blocking the connection. Ctrl-C ends the wait."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(sys.stdin, ready.set)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


async def main() -> None:
    page = Page()

    async def decide(request: accord.PermissionRequest) -> bool:
        if not sys.stdin.isatty():
            page.line("asks", f"{request.title}? Allowed, as there is no terminal to ask at.")
            return True
        page.line("asks", f"{request.title}? [Y/n] ", BOLD, end="")
        answer = await typed_line()
        return answer != "" and not answer.strip().lower().startswith("n")

    screen = Screen({FILE: 'print("Helo, world")\n'})
    print(paint("Accord: a client, an agent, one prompt", BOLD))
    async with accord.connect(AGENT, workspace=screen, permissions=decide) as agent:
        print(f"The client is here, {agent.name} in a separate process; they speak version {agent.version} of ACP.")
        session = await agent.new_session()
        page.line("you", PROMPT)
        turn = session.prompt(PROMPT)
        async for event in turn:
            page.show(event)
    page.end()
    print(f"The turn ended with {turn.stop_reason}; hello.py now reads {screen.files[FILE].strip()}")
    print(paint(NEXT, BOLD))


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without ○ gets a ?
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except accord.AccordError as error:
        sys.exit(f"\n{error}")

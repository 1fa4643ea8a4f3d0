"""A client that shows a turn while it happens: it matches and prints the events that most agents send.

    python streaming_client.py [COMMAND …]    (without one: the tour agent beside this file)

It works in a temporary directory and allows everything: good for trying an agent, not for daily use."""

import asyncio
import sys
import tempfile
from pathlib import Path

import accord

AGENT = sys.argv[1:] or [sys.executable, str(Path(__file__).with_name("tour_agent.py"))]
PROMPT = "Correct the greeting in hello.py, please."
MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "failed": "[!]", "cancelled": "[-]"}


shown: dict[str, str] = {}  # the last printed status of each tool call


def show(event: accord.Event) -> None:
    match event:
        case accord.Text(text=text) | accord.Thought(text=text):
            print(text, end="", flush=True)
        case accord.Plan(entries=entries):
            print("\nplan:", *(f"{MARKS.get(entry.status, '[?]')} {entry.content}" for entry in entries), sep="\n  ")
        case accord.ToolCall(id=id, title=title, kind=kind, status=status) if shown.get(id) != status:
            shown[id] = status  # each change of a call is an event with its whole state
            print(f"\n{MARKS.get(status, '[?]')} {kind}: {title}")
            if event.is_final:
                print(*(diff.patch for diff in event.diffs), sep="", end="")
        case accord.Usage(used=used, size=size):
            print(f"\n(the context is {used / size:.0%} full)")
        case accord.Notice(severity=severity, title=title):
            print(f"\n{severity}: {title}")


async def main(folder: str) -> None:
    async with accord.connect(AGENT, permissions=accord.allow_all) as agent:
        session = await agent.new_session(cwd=folder)
        turn = session.prompt(PROMPT)
        async for event in turn:
            show(event)
        print(f"\nThe turn ended with {turn.stop_reason}, after {len(turn.tool_calls)} tool calls.")


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "hello.py")
    file.write_text('print("Helo, world")\n', encoding="utf-8")
    asyncio.run(main(folder))
    print("hello.py:", file.read_text(encoding="utf-8").strip())

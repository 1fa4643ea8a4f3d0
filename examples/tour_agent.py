"""An agent that shows what agents do, without a model: it plans, thinks, reads, shows a change, asks and writes.

`tour.py` and `streaming_client.py` play it. Whatever the prompt, it corrects the greeting in hello.py: through the
client where that lends its files, as editors do, and on the disk where it does not. `--fast` leaves out the pauses."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from accord import Agent, PlanEntry, Turn, run

FILE = "hello.py"
STEPS = [f"Read {FILE}", "Correct the greeting", "Say what changed"]
PACE = 0.0 if "--fast" in sys.argv else 0.05


class TourAgent(Agent):
    title = "Tour agent"
    version = "1.0"

    async def prompt(self, turn: Turn) -> None:
        await plan(turn, 0)
        await stream(turn.think, "A letter seems to be missing. I had better look first.")

        async with turn.tool(f"Read {FILE}", kind="read", locations=[FILE]) as tool:
            text = await read(turn)
            await tool.show(text)
            await asyncio.sleep(PACE * 4)
        await plan(turn, 1)

        async with turn.tool(f"Change one line of {FILE}", kind="edit", locations=[f"{FILE}:1"]) as tool:
            corrected = text.replace("Helo", "Hello")
            await tool.diff(FILE, text, corrected)
            allowed = await tool.permit()
            if allowed:
                await write(turn, corrected)
            else:
                await tool.fail("You did not allow it.")
        await plan(turn, 2)

        if allowed:
            answer = (
                f"Done: {FILE} now greets the world with both of its l's. I changed that one line and nothing else."
            )
        else:
            answer = f"As you wish: {FILE} stays as it was. The change is above, should you think again."
        await stream(turn.say, answer)
        await plan(turn, 3)


async def plan(turn: Turn, done: int) -> None:
    """Send the plan: the first `done` steps are completed, the next one is in progress."""
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
    await turn.plan([PlanEntry(content=step, status=state) for step, state in zip(STEPS, states, strict=False)])


async def stream(speak: Callable[[str], Awaitable[None]], text: str) -> None:
    """Send a text one word at a time, as models do."""
    for word in re.findall(r"\S+\s*", text):
        await speak(word)
        await asyncio.sleep(PACE)


async def read(turn: Turn) -> str:
    if turn.client.offers.read_files:
        return await turn.files.read(FILE)
    return await asyncio.to_thread(Path(turn.session.cwd, FILE).read_text, encoding="utf-8")


async def write(turn: Turn, text: str) -> None:
    if turn.client.offers.write_files:
        await turn.files.write(FILE, text)
    else:
        await asyncio.to_thread(Path(turn.session.cwd, FILE).write_text, text, encoding="utf-8")


if __name__ == "__main__":
    run(TourAgent())

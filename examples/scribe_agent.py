"""A complete agent: it reads a file of the user, asks before it changes it, and reports the result.

Add `python scribe_agent.py` to your editor's settings; the editor must offer its files, as most do."""

from accord import Agent, Turn, run


class Scribe(Agent):
    async def prompt(self, turn: Turn) -> None:
        async with turn.tool("Read notes", kind="read", locations=["NOTES.md"]) as tool:
            notes = await turn.files.read("NOTES.md")
            await tool.show(notes[:200])
        if await turn.permit("Append a line to NOTES.md", kind="edit"):
            await turn.files.write("NOTES.md", notes + turn.text + "\n")
        await turn.say(f"Noted: {turn.text}")


if __name__ == "__main__":
    run(Scribe())

"""An agent whose sessions outlive it: they are in the user's data directory, and `accord sessions` shows them."""

from accord import Agent, SqliteStore, Turn, run


class Diary(Agent):
    store = SqliteStore()

    async def prompt(self, turn: Turn) -> None:
        await turn.set_title(f"About {turn.text}")
        await turn.say(f"Saved: {turn.text}")


if __name__ == "__main__":
    run(Diary())

"""The smallest agent: it repeats the prompt."""

from accord import Agent, Turn, run


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"You said: {turn.text}")


if __name__ == "__main__":
    run(Echo())

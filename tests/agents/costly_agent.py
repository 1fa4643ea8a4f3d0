"""An agent that costs $0.50 per step: `spend N` takes N steps and waits for a cancellation after the last one."""

import asyncio

from accord import Agent, Turn, run


class Costly(Agent):
    cost = 0.0

    async def prompt(self, turn: Turn) -> None:
        steps = int(turn.text.split()[-1]) if turn.text.startswith("spend") else 1
        for _ in range(steps):
            self.cost += 0.5
            await turn.usage(10, 100, cost=self.cost)
        if turn.text.startswith("spend"):
            await asyncio.Event().wait()
        await turn.say(f"spent {self.cost:g}")


if __name__ == "__main__":
    run(Costly())

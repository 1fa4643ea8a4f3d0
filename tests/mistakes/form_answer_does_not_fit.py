import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.ask("How many?", {"properties": {"count": {"type": "integer"}}})


async def main():
    async with accord.connect(Helper(), elicitation=lambda question: {"count": "five"}) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

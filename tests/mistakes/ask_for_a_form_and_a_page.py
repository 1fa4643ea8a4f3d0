import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.ask("Who?", {"properties": {"name": {"type": "string"}}}, url="https://example.com")


async def main():
    async with accord.connect(Helper(), elicitation=lambda question: {}) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

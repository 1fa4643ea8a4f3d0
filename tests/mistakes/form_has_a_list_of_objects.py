import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        people = {"type": "array", "items": {"type": "object"}}
        await turn.ask("Who?", {"properties": {"people": people}})


async def main():
    async with accord.connect(Helper(), permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

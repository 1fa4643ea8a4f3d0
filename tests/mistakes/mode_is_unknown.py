import accord


class Helper(accord.Agent):
    modes = [accord.Mode(id="ask", name="Ask")]

    async def prompt(self, turn: accord.Turn):
        await turn.set_mode("fast")


async def main():
    async with accord.connect(Helper(), permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

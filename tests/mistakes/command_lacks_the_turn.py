import accord


class Helper(accord.Agent):
    @accord.command("done", "Remove finished things")
    async def remove(self):
        pass

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")


async def main():
    async with accord.connect(Helper(), permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

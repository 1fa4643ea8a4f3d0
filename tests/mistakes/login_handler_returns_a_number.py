import accord


class Helper(accord.Agent):
    auth_methods = [accord.AuthMethod(id="key", name="API key")]

    async def prompt(self, turn: accord.Turn):
        raise accord.AuthRequired


async def main():
    async with accord.connect(Helper(), login=lambda methods: 1) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

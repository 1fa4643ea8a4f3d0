import accord


class Helper(accord.Agent):
    async def list_sessions(self, *, cwd, cursor):
        return [accord.SessionInfo(id="one", cwd="/project")]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")


async def main():
    async with accord.connect(Helper()) as agent:
        print([info async for info in agent.list_sessions()])

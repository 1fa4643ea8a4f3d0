import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")


async def main():
    await accord.run(Helper())

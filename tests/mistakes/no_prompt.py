import accord


class Helper(accord.Agent):
    async def _answer(self, turn):
        await turn.say("Hello.")


async def main():
    async with accord.connect(Helper()):
        pass

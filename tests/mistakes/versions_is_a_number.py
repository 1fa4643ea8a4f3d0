import accord


class Helper(accord.Agent):
    versions = 2

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

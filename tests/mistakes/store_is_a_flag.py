import accord


class Helper(accord.Agent):
    store = True

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

import accord


class Helper(accord.Agent):
    content = ("picture",)

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

import accord


class Helper(accord.Agent):
    content = "image"

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

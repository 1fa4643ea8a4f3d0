import accord


class Helper(accord.Agent):
    commands = ["help"]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

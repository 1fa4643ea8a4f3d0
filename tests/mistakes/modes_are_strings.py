import accord


class Helper(accord.Agent):
    modes = ["ask", "code"]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

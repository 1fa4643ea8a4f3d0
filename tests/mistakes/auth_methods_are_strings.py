import accord


class Helper(accord.Agent):
    auth_methods = ["api-key"]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

import accord


class Helper(accord.Agent):
    auth_method = [accord.AuthMethod(id="key", name="API key")]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

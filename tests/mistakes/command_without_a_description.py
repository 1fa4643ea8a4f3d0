import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

    @accord.command("test")
    async def test(self, turn):
        return None

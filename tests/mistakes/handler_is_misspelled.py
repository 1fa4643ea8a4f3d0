import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

    async def load_sesion(self, session):
        return None

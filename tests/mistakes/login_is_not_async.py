import accord


class Helper(accord.Agent):
    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

    def login(self, method_id, client):
        return None

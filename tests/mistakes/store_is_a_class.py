import accord


class Helper(accord.Agent):
    store = accord.SqliteStore

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

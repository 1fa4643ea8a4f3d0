import accord


class Helper(accord.Agent):
    async def prompt(self, session, turn):
        await turn.say("Hello.")

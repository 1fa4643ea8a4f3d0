import accord


class Helper(accord.Agent):
    async def prompt(turn):
        await turn.say("Hello.")

import accord


class Helper(accord.Agent):
    async def prompt(self, turn):
        await turn.say("Hello.")


accord.run(Helper)

import accord


class Helper(accord.Agent):
    async def promt(self, turn):
        await turn.say("Hello.")


accord.run(Helper())

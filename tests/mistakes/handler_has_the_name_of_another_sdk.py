import accord


class Helper(accord.Agent):
    async def on_prompt(self, turn):
        await turn.say("Hello.")

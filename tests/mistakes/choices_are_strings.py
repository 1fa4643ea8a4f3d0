import accord


class Helper(accord.Agent):
    options = [accord.Option(id="model", name="Model", value="small", choices=["small", "big"])]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

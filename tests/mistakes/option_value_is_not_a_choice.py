import accord


class Helper(accord.Agent):
    options = [
        accord.Option(id="model", name="Model", value="big", choices=[accord.Choice(value="small", name="Small")])
    ]

    async def prompt(self, turn: accord.Turn):
        await turn.say("Hello.")

import accord


class Helper(accord.Agent):
    async def prompt(self, turn):
        yield "Hello."

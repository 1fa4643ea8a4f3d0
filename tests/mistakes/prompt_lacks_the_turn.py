import accord


class Helper(accord.Agent):
    async def prompt(self):
        return None

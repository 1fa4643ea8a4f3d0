import accord


async def main():
    async with accord.connect(8080):
        pass

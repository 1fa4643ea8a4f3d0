import accord


async def main():
    async with accord.connect("tcp://localhost:8000"):
        pass

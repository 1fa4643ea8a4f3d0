from accord import v1


async def main():
    async with v1.connect("python agent.py", v1.ClientHandlers()):
        pass

import accord


async def main():
    accord.connect("my-agent", env={"PORT": 8080})

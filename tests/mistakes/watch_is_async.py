import accord
from accord.testing import ScriptedAgent


async def watch(direction, line):
    print(direction, line)


async def main():
    async with accord.connect(ScriptedAgent(["Hello."]), watch=watch):
        pass

import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."]), deadlines={"initialize": -1}):
        pass

import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."]), info={"name": "my-client"}):
        pass

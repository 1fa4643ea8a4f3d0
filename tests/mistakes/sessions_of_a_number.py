import accord
from accord.testing import ScriptedAgent


class Helper(ScriptedAgent):
    store = accord.MemoryStore()


async def main():
    async with accord.connect(Helper()) as agent:
        print([info async for info in agent.list_sessions(42)])

import accord
from accord.testing import ScriptedAgent


class Helper(ScriptedAgent):
    store = accord.MemoryStore()


async def main():
    async with accord.connect(Helper()) as agent:
        session = await agent.new_session()
        await agent.load_session(session)

import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."])) as agent:
        session = await agent.new_session()
        await session.events()

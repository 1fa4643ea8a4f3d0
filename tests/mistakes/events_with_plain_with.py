import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."]), permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        with session.events():
            pass

import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."]), permissions=accord.allow_all) as agent:
        print(await agent.list_sessions())

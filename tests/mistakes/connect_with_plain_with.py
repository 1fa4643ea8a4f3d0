import accord
from accord.testing import ScriptedAgent


async def main():
    with accord.connect(ScriptedAgent()) as agent:
        await agent.new_session()

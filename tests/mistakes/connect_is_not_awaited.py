import accord
from accord.testing import ScriptedAgent


async def main():
    agent = accord.connect(ScriptedAgent())
    await agent.new_session()

import accord
from accord.proxy import Proxy, chain, to_agent
from accord.testing import ScriptedAgent


class Context(Proxy):
    @to_agent("session/promt")
    async def prompt(self, request):
        return await request.forward()


async def main():
    async with accord.connect(chain(Context(), ScriptedAgent(["Hello."]))) as agent:
        session = await agent.new_session()
        await session.prompt("hello")

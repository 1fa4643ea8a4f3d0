from accord import v1
from accord.transports.memory import pair


async def main():
    ours, _ = pair()
    async with v1.connect(ours, v1.ClientHandlers()) as agent:
        await agent.call("session/list", {})

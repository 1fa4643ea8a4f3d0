from accord import v2
from accord.transports.memory import pair


class Helper(v2.AgentHandlers):
    async def initialize(self, params: v2.InitializeRequest):
        v2.InitializeResponse(protocol_version=2, info=v2.Implementation(name="helper", version="1"))


async def main():
    ours, theirs = pair()
    async with v2.serve(theirs, Helper()), v2.connect(ours, v2.ClientHandlers()) as agent:
        info = v2.Implementation(name="client", version="1")
        await agent.initialize(v2.InitializeRequest(protocol_version=2, info=info))

from accord import v1
from accord.transports.memory import pair


class Helper(v1.ClientHandlers):
    def session_update(self, params: v1.SessionNotification): ...


async def main():
    ours, _ = pair()
    async with v1.connect(ours, Helper):
        pass

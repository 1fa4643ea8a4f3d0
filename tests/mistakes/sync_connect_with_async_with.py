import accord.sync
from accord.testing import ScriptedAgent


async def main():
    from asyncio import to_thread

    connected = await to_thread(accord.sync.connect, ScriptedAgent())
    try:
        async with connected:
            pass
    finally:
        await to_thread(connected.close)

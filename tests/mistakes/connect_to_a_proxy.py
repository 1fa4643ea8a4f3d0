import accord
from accord.proxy import Proxy


async def main():
    async with accord.connect(Proxy()):
        pass

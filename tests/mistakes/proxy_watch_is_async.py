from accord.proxy import Proxy


class Log(Proxy):
    async def watch(self, way, kind, method, body):
        print(method)

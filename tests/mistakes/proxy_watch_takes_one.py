from accord.proxy import Proxy


class Log(Proxy):
    def watch(self, message):
        print(message)

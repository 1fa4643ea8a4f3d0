from accord.proxy import Proxy, chain
from accord.testing import ScriptedAgent

chain(ScriptedAgent(["Hello."]), Proxy())

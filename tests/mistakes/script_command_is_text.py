from accord.testing import ScriptedClient

ScriptedClient(commands={"make test": "ok"})

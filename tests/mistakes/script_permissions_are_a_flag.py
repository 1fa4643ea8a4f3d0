from accord.testing import ScriptedClient

ScriptedClient(permissions=True)

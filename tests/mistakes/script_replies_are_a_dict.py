from accord.testing import ScriptedClient

ScriptedClient(replies={"name": "Ada"})

from accord.testing import ScriptedAgent

ScriptedAgent(["Hello.", 42])

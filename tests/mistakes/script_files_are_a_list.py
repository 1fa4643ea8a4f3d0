from accord.testing import ScriptedClient

ScriptedClient(files=["notes.txt"])

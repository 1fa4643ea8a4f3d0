from accord.testing import ScriptedClient

ScriptedClient(files={"/project/notes.txt": b"text"})

import accord.sync
from accord.testing import ScriptedAgent

with accord.sync.connect(ScriptedAgent()) as agent:
    agent.new_session().prompt("hello")

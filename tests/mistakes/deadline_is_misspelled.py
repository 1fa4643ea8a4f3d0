import accord
from accord.testing import ScriptedAgent


async def main():
    accord.connect(ScriptedAgent(), deadlines={"initialise": 5})

from accord.testing import ScriptedAgent, link


async def main():
    async with link(ScriptedAgent(), {"/project/notes.txt": "text"}):
        pass

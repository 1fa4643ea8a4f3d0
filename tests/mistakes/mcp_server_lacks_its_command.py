import accord
from accord.testing import ScriptedAgent


async def main():
    accord.connect(ScriptedAgent(), mcp_servers=[accord.McpServer(name="files")])

import accord
from accord.testing import ScriptedAgent


async def main():
    async with accord.connect(ScriptedAgent(["Hello."])) as agent:
        await agent.new_session(mcp_servers=[accord.McpServer(name="files", command="mcp-files")])

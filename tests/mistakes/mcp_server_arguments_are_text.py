import accord
from accord.testing import ScriptedAgent


async def main():
    server = accord.McpServer(name="files", command="/usr/bin/mcp-files", args="--root /tmp")
    accord.connect(ScriptedAgent(), mcp_servers=[server])

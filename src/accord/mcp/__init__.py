"""MCP servers of the client, which run in its process or on its machine and are offered to agents over ACP."""

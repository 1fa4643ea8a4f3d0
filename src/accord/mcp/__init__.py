"""MCP servers of the client: run in its process or on its machine, and offered to agents through the ACP connection."""

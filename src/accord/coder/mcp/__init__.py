"""The MCP servers of a session. They start and end with it, and no other session sees them.

How the coding agent uses them:

    servers = Servers(session)          # from `session.mcp_servers`; doesn't start them
    servers.changed = callback          # called when tools or commands have changed
    servers.start()                     # connects in the background
    await servers.ready()               # at each prompt: waits a little for servers that are still starting
    servers.tools()                     # dict of name → Tool, for the model
    servers.commands()                  # list of Command, one per MCP prompt: /mcp:server:prompt
    await servers.prompt_messages(name, argument)   # the content of such a command
    servers.states()                    # list of ServerState, for display
    await servers.restart(name)         # restarts one, whatever its state
    await servers.close()               # stops them all; leaves no process

The official SDK implements the protocol. `start` loads it in a thread, only if a session has MCP servers."""

"""The MCP servers of a session: started with it, used through it, ended with it, and seen by no other session.

What the coding agent does with them:

    servers = Servers(session)          # from `session.mcp_servers`; nothing happens yet
    servers.changed = callback          # called when tools or commands are other than they were
    servers.start()                     # begins to connect, in the background
    await servers.ready()               # at the start of each prompt: waits for those that are still starting, not long
    servers.tools()                     # dict of name → Tool, for the model
    servers.commands()                  # list of Command, one for each prompt of a server: /mcp:server:prompt
    await servers.prompt_messages(name, argument)   # what such a command stands for
    servers.states()                    # list of ServerState, for a person
    await servers.restart(name)         # starts one again, whatever became of it
    await servers.close()               # ends them all; no process is left

The official SDK speaks the protocol. It is loaded by `start`, in a thread and only when a session names a server."""

"""The built-in coding agent: works with any provider's model, or offline.

`agent.Coder` is the agent, `session.CoderSession` the state of one session, `loop.Loop` one turn. Tool calls go through
`tool_calls` and `permission`. `tools/`, `mcp/`, `models/` and `offline/` hold the parts that a turn uses."""

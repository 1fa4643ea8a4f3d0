"""The version-neutral model: content, tool calls, options, requests and statements, as plain data."""

"""Patterns in permission rules: for commands, paths, URLs and MCP tools.

Each module reads a pattern (`read`) and matches it in two ways: `covers` is strict and used to allow, `catches` is
generous and used to ask and to deny."""

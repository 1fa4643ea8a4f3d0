"""Shell command lines: find every command that a line might run, so that each can be checked against the rules.

`parser` reads a line, `wrappers` examines commands that run other commands, `script` holds the result."""

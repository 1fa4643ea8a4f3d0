"""Shell command lines: find every command that a line might run, so that each can be checked against the rules.

`parser` reads a line, `wrappers` looks into commands that run other commands, `script` holds the result."""

"""Files and terminals of a session, for clients that offer them to an agent and for agents that use their own.

`Files` reads and writes only inside the `Roots` of a session, `Checkpoints` restores files to their state before a
turn, `Terminals` runs commands and keeps their output."""

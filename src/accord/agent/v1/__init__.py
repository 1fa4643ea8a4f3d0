"""Protocol version 1 for agents: a prompt's response ends its turn."""

"""Protocol version 2 for agents: a prompt is acknowledged at once, and state updates report how its turn goes."""

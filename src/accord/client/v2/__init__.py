"""Protocol version 2 for clients: a prompt is acknowledged at once, and state updates report when its turn ends."""

"""One tab: the widgets that show a session, and the commands that act on it."""

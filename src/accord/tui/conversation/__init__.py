"""The timeline of a session as lines on a screen. Only what can be seen is laid out and drawn."""

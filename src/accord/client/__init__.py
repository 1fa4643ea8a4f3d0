"""Using an agent: start it, open sessions, send prompts, read typed events. One API for both versions."""

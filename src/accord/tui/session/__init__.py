"""One open session without its widgets: opening it, its prompt queue, turns, checkpoints and activity.

`SessionController` holds the parts, which share a `SessionContext`. Nothing here knows widgets."""

"""Shapes that both versions of the protocol spell alike, by topic.

Each version exports them as its own; import them from there."""

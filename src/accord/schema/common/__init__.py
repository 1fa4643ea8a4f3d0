"""Shapes that both versions of the protocol spell alike, by topic.

Each version shows them as its own; nobody else imports from here."""

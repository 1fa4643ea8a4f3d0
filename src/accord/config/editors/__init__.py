"""Editors: how to detect each one, and how to add an agent to its settings."""

"""Whole-screen things: agents, sessions, logs, forms, logins, settings, keys."""

"""Screens above the tabs: pickers, agents, sessions, logs, forms, logins, settings, shortcuts."""

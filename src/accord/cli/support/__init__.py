"""Modules that several commands share: launching agents, asking the user, output, stored sessions, options, errors."""

"""Configuration files, trust, known agents, and the registry."""

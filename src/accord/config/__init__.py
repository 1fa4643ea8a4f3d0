"""Configuration files and directories, configured agents, the registry and its installer, and editors' settings."""

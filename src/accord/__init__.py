"""The Agent Client Protocol for Python."""

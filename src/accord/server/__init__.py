"""The HTTP server around a hub: tokens, limits, metrics and spawners."""

"""The state of all sessions on this machine, published by each client for all others."""

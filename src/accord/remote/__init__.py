"""The client's end of a remote agent: URLs, reconnecting, relays and path mapping."""

"""Remote agents on the client's side: URLs, reconnecting, relays and path mapping."""

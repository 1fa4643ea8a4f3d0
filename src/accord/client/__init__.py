"""The client's side of ACP: `connect()`, the connected agent with its sessions and turns, and the code that speaks the
negotiated version (`v1`, `v2`)."""

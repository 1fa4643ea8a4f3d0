"""The agent's side of ACP: the `Agent` base class, the sessions and turns it works with, and the code that serves a
client in the negotiated version (`v1`, `v2`)."""

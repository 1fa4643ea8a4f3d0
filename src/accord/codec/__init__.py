"""Translates wire types into the version-neutral model.

`from_v1` and `from_v2` read the types of one version, `from_wire` those that both versions spell alike. Agents, clients
and transcripts share these functions; none of them does I/O."""

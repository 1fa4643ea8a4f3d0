"""Translates wire types into the version-neutral model.

`from_v1` and `from_v2` read the types of one version, `from_wire` those that are the same in both versions. Agents,
clients and transcripts share these functions; none of them does I/O."""

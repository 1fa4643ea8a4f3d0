"""The one place where JSON-RPC, the protocol's types and a transport meet."""

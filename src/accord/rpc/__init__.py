"""JSON-RPC 2.0, with no I/O and no ACP."""

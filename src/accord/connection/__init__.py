"""JSON-RPC over a transport: incoming messages in order, outgoing requests, back-pressure and deadlines."""

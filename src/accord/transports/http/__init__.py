"""WebSocket and Streamable HTTP, for clients and servers.

Decisions are made without I/O: `message_head` reads the parts of a message that routing needs, `routing` chooses its
stream, `admission` accepts or refuses a request, `stream_buffer` holds unsent and recently sent messages of a stream.
`asgi` is the server's endpoint and `client` opens a URL; both are independent of agents."""

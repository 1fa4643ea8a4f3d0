"""WebSocket and Streamable HTTP, for clients and servers.

Decisions are made without I/O: `message_head` reads what routing needs of a message, `routing` chooses its stream,
`admission` accepts or refuses a request, `stream_buffer` holds what a stream has to send or may have to send again.
`asgi` is the server's endpoint and `client` opens a URL; both know nothing about agents."""

"""A complete custom transport: messages over a stream socket. The client creates a pair of sockets and passes one of
them to the agent, which it starts as a process; standard input and output stay free.

Connecting: the client creates both ends (`socket.socketpair`) and starts the agent with one of them, whose number is on
    the command line. Any other way to get a connected stream socket works as well.
Authentication: none. The pair has no name, so only processes that inherit an end can use it.
Messages: JSON-RPC in UTF-8, one per line, in both directions at once; the client starts.
Closing: either side closes its socket after sending what is left. The other one sees the end of the stream, finishes,
    and closes too. A process that exits closes its socket."""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Generator
from typing import Any

import accord
from accord import Agent, ConnectionClosed, Turn
from accord.agent.run import serve
from accord.transports.base import READY, Receiver
from accord.transports.framing import LineFramer, hand_over

CLOSE_TIMEOUT_SECONDS = 5.0
"""The time that closing waits for a peer that doesn't read."""


class SocketTransport(accord.Transport, asyncio.Protocol):
    """One end of a connected stream socket. `await SocketTransport.over(sock)` makes one; closing it closes the socket.

    asyncio calls the methods of a protocol, the connection those of a transport; this class connects the two."""

    @classmethod
    async def over(cls, sock: socket.socket) -> "SocketTransport":
        _, transport = await asyncio.get_running_loop().create_connection(cls, sock=sock)
        return transport

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._gone: asyncio.Future[None] = loop.create_future()
        self._room = Room()

    # -- called by the connection

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._framer = LineFramer(self.max_message_bytes)
        self.resume()

    def send(self, data: bytes) -> Awaitable[None]:
        if self._wire.is_closing():
            raise ConnectionClosed(f"{self.describe()}: the socket is closed")
        self._wire.write(data)
        return READY if self._room.is_set() else self._room

    def flush(self) -> None:
        """Do nothing: asyncio writes immediately, and the rest as soon as the socket accepts it."""

    def pause(self) -> None:
        self._wire.pause_reading()  # can be repeated, and so can resuming

    def resume(self) -> None:
        self._wire.resume_reading()

    async def close(self) -> None:
        self._wire.close()  # sends buffered data, then calls connection_lost
        await asyncio.wait([self._gone], timeout=CLOSE_TIMEOUT_SECONDS)
        self._wire.abort()
        await asyncio.wait([self._gone])

    def describe(self) -> str:
        return "the peer behind the socket"

    # -- called by asyncio

    def connection_made(self, transport: Any) -> None:
        self._wire: asyncio.Transport = transport
        self._wire.pause_reading()  # until there is a receiver

    def data_received(self, data: bytes) -> None:
        assert self._receiver is not None
        hand_over(self._framer, self._framer.feed(data), self._receiver)

    def eof_received(self) -> None:
        """Handle the end of the stream, whose last line may lack its newline. Returning None closes our end."""
        assert self._receiver is not None
        hand_over(self._framer, self._framer.finish(), self._receiver)

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Called once, whichever side closed the connection; nothing follows."""
        self._room.set()  # don't wait for a peer that is gone
        self._gone.set_result(None)
        if self._receiver is not None:
            self._receiver.on_end(None if error is None else ConnectionClosed(f"{self.describe()}: {error}"))


class Room(asyncio.Event):
    """Set while the peer reads fast enough. `send` returns it, and callers may ignore it: unlike a coroutine, an event
    doesn't warn when it is never awaited."""

    def __init__(self) -> None:
        super().__init__()
        self.set()

    def __await__(self) -> Generator[Any, None, None]:
        yield from self.wait().__await__()


# -- both ends


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"You said: {turn.text}")
        await turn.say(f" (I am process {os.getpid()})")


async def be_the_agent(descriptor: int) -> None:
    await serve(Echo(), await SocketTransport.over(socket.socket(fileno=descriptor)))


async def be_the_client() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        process = await asyncio.create_subprocess_exec(sys.executable, __file__, str(number), pass_fds=[number])
    async with accord.connect(await SocketTransport.over(ours)) as agent:
        session = await agent.new_session()
        turn = await session.prompt("hello over a socket")
        print(turn.text)
    print(f"the agent ended with status {await process.wait()}")


if __name__ == "__main__":
    asyncio.run(be_the_agent(int(sys.argv[1])) if sys.argv[1:] else be_the_client())

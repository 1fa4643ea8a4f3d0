"""A transport of your own, in full: messages over a stream socket. Here the client makes a pair of sockets and gives
one of them to the agent, which it starts as a process; standard input and output stay free.

How the ends find each other: the client makes both (`socket.socketpair`) and starts the agent with one of them, named
    by its number on the command line. Anything that ends in a connected stream socket would do as well.
Who may speak: whoever holds an end. The pair has no name, so nobody else can reach it, and nothing more is checked.
What travels: JSON-RPC messages in UTF-8, a line each, in both directions at once; the client speaks first.
How it ends: either side closes its socket, after sending what it had. The other sees the end of the stream, finishes
    what it can, and closes too. A process that dies has closed its socket."""

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
from accord.transports.lines import LineFramer, hand_over

FAREWELL = 5.0
"""How long closing waits for a peer that does not read."""


class SocketTransport(accord.Transport, asyncio.Protocol):
    """One end of a connected stream socket. `await SocketTransport.over(sock)` makes one; closing it closes the socket.

    asyncio calls the methods of a protocol, the connection those of a transport; this class leads each to the other."""

    @classmethod
    async def over(cls, sock: socket.socket) -> "SocketTransport":
        _, transport = await asyncio.get_running_loop().create_connection(cls, sock=sock)
        return transport

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._gone: asyncio.Future[None] = loop.create_future()
        self._room = Room()

    # -- what the connection calls

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
        """asyncio writes at once what the socket takes, and the rest as soon as there is room."""

    def pause(self) -> None:
        self._wire.pause_reading()  # repeating it changes nothing, and so with resuming

    def resume(self) -> None:
        self._wire.resume_reading()

    async def close(self) -> None:
        self._wire.close()  # sends what was collected, then calls connection_lost
        await asyncio.wait([self._gone], timeout=FAREWELL)
        self._wire.abort()
        await asyncio.wait([self._gone])

    def describe(self) -> str:
        return "the peer behind the socket"

    # -- what asyncio calls

    def connection_made(self, transport: Any) -> None:
        self._wire: asyncio.Transport = transport
        self._wire.pause_reading()  # until somebody is there to receive

    def data_received(self, data: bytes) -> None:
        assert self._receiver is not None
        hand_over(self._framer, self._framer.feed(data), self._receiver)

    def eof_received(self) -> None:
        """They closed their end: a last line may lack its newline. Returning nothing lets asyncio close ours."""
        assert self._receiver is not None
        hand_over(self._framer, self._framer.finish(), self._receiver)

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Comes once, whoever ended it; nothing comes after it."""
        self._room.set()  # nobody waits for a peer that is gone
        self._gone.set_result(None)
        if self._receiver is not None:
            self._receiver.ended(None if error is None else ConnectionClosed(f"{self.describe()}: {error}"))


class Room(asyncio.Event):
    """Whether the peer has read enough. It is awaited by those who want to be held back, and by nobody else: a
    coroutine in its place would complain that nobody awaited it."""

    def __init__(self) -> None:
        super().__init__()
        self.set()

    def __await__(self) -> Generator[Any, None, None]:
        yield from self.wait().__await__()


# -- both ends at work


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

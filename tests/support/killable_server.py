"""A server process that can be killed at any instant: a hub with a durable log, behind a listening socket that outlives
it. Run as a program it is the server, or with `--agent` the agent that the server starts."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve()


class KillableServer:
    """Starts the server, kills it, and starts it again on the same socket."""

    def __init__(self, directory: Path, words: int) -> None:
        self.directory = directory
        self.words = words
        self.kills = 0
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(128)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        descriptor = self._socket.fileno()
        arguments = [str(descriptor), str(self.directory), str(self.words)]
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE), *arguments],
            pass_fds=[descriptor],
            env=environment,
            stdin=subprocess.DEVNULL,
            cwd=self.directory,
        )

    def kill(self) -> None:
        """Kill -9, and start a new one at once."""
        self.stop()
        self.kills += 1
        self.start()

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.stop()
        self._socket.close()


async def serve(descriptor: int, directory: Path, words: int) -> None:
    import uvicorn

    from accord.hub.hub import Hub
    from accord.hub.principal import Principal
    from accord.hub.spawner import CommandSpawner
    from accord.hub.sqlite_log import SqliteEventLog
    from accord.transports.base import Transport
    from accord.transports.http.asgi import Endpoint, Peer

    command = [sys.executable, str(HERE), "--agent", str(directory), str(words)]
    hub = Hub(CommandSpawner(command), log=SqliteEventLog(directory / "hub.db"), root=directory)

    async def accept(transport: Transport, peer: Peer) -> None:
        await hub.accept(transport, Principal("alice"))

    config = uvicorn.Config(Endpoint(accept), http="zttp", ws="wsproto", log_config=None, lifespan="off")
    await uvicorn.Server(config).serve(sockets=[socket.socket(fileno=descriptor)])


def run_agent(directory: Path, words: int) -> None:
    from support.cut_conversation import Talker

    import accord
    from accord.store.sqlite import SqliteStore

    agent = Talker(words)
    agent.store = SqliteStore(directory / "agent.db")
    accord.run(agent)


if __name__ == "__main__":
    if sys.argv[1] == "--agent":
        run_agent(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        asyncio.run(serve(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))

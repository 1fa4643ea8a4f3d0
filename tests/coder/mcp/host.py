"""A small agent that has nothing but the MCP servers of its sessions: a prompt is a tool and its arguments."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accord.agent.agent import Agent
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.coder.calls import carry_out
from accord.coder.desk import Desk
from accord.coder.history import Call, Result
from accord.coder.mcp.servers import Servers
from accord.coder.mcp.silence import Deadlines
from accord.model.requests import McpServer
from accord.model.session import Mode
from accord.policy.engine import Policy
from accord.policy.text import parse

HERE = Path(__file__).parent


def small(*args: str, name: str = "small", **env: str) -> McpServer:
    """The server that starts at once."""
    return McpServer(name=name, command=sys.executable, args=[str(HERE / "small.py"), *args], env=env)


def everything(name: str = "everything", **env: str) -> McpServer:
    """The official SDK's, over stdio."""
    return McpServer(name=name, command=sys.executable, args=[str(HERE / "everything.py"), "stdio"], env=env)


class Host(Agent):
    """Calls `mcp__<server>__<tool>` with the arguments of a prompt: `{"tool": …, "arguments": …}`."""

    mcp = ("stdio", "http", "sse")
    additional_directories = True
    unstable = True
    modes = [Mode(id="code", name="Code"), Mode(id="ask", name="Ask"), Mode(id="architect", name="Architect")]

    def __init__(self, *rules: str, **limits: Any) -> None:
        self.rules = [parse(rule) for rule in rules or ("allow mcp:*",)]
        self.limits = limits
        self.servers: dict[str, Servers] = {}
        self.sessions: list[Session] = []
        self.results: list[Result] = []
        self.changes = 0
        self.changed = asyncio.Event()

    async def session_opened(self, session: Session, how: str) -> None:
        servers = self.servers[session.id] = Servers(session, **self.limits)
        servers.changed = self._changed
        servers.start()
        self.sessions.append(session)
        desk = session.data["desk"] = Desk(session, Policy(session.cwd, user=self.rules))
        desk.servers = servers

    def _changed(self) -> None:
        self.changes += 1
        self.changed.set()

    async def close_session(self, session: Session) -> None:
        await self.servers[session.id].close()

    async def prompt(self, turn: Turn) -> None:
        servers = self.servers[turn.session.id]
        await servers.ready()
        if turn.text == "ready":
            return
        asked = json.loads(turn.text)
        call = Call(id="c", name=asked["tool"], arguments=asked.get("arguments", {}))
        await carry_out([call], turn, turn.session.data["desk"], servers.tools(), self.results)

    @property
    def only(self) -> Servers:
        (servers,) = self.servers.values()
        return servers


def calling(tool: str, server: str = "small", **arguments: Any) -> str:
    """The prompt that calls a tool."""
    return json.dumps({"tool": f"mcp__{server}__{tool}", "arguments": arguments})


def brief(**limits: float) -> Deadlines:
    """Deadlines for a test, of those that it is about."""
    return Deadlines(**limits)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not buried yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
    except OSError:
        os.kill(pid, 0)
        return True


async def until(true: Callable[[], Any]) -> Any:
    """Waits until something holds."""
    while not (found := true()):  # noqa: ASYNC110 - a process, or a file, tells nobody
        await asyncio.sleep(0.01)
    return found

"""A small agent with MCP servers and nothing else: a prompt is a tool and its arguments."""

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
from accord.coder.credentials import Keys
from accord.coder.history import Call, Result
from accord.coder.mcp.deadlines import Deadlines
from accord.coder.mcp.servers import Servers
from accord.coder.secrets import Secrets
from accord.coder.session import CoderSession
from accord.coder.shared_resources import SharedResources
from accord.coder.tool_calls import run_calls
from accord.config.settings import CoderSettings
from accord.model.requests import McpServer
from accord.model.session import Mode
from accord.policy.engine import Policy
from accord.policy.rule import parse_rule

HERE = Path(__file__).parent


def small(*args: str, name: str = "small", **env: str) -> McpServer:
    """Return a server that starts quickly."""
    return McpServer(name=name, command=sys.executable, args=[str(HERE / "small_server.py"), *args], env=env)


def everything(name: str = "everything", **env: str) -> McpServer:
    """Return a server that uses the official SDK, over stdio."""
    return McpServer(name=name, command=sys.executable, args=[str(HERE / "everything_server.py"), "stdio"], env=env)


class Host(Agent):
    """Calls `mcp__<server>__<tool>` with the arguments of a prompt: `{"tool": …, "arguments": …}`."""

    mcp = ("stdio", "http", "sse")
    additional_directories = True
    unstable = True
    modes = [Mode(id="code", name="Code"), Mode(id="ask", name="Ask"), Mode(id="architect", name="Architect")]

    def __init__(self, *rules: str, deadlines: Deadlines | None = None, **limits: Any) -> None:
        self.rules = [parse_rule(rule) for rule in rules or ("allow mcp:*",)]
        self.limits = {"deadlines": deadlines or make_deadlines(), **limits}
        self.servers: dict[str, Servers] = {}
        self.sessions: list[Session] = []
        self.results: list[Result] = []
        self.changes = 0
        self.changed = asyncio.Event()

    async def session_opened(self, session: Session, how: str) -> None:
        servers = self.servers[session.id] = Servers(session, **self.limits)
        servers.changed = self.on_change
        servers.start()
        self.sessions.append(session)
        policy = Policy(session.cwd, user=self.rules)
        secrets = Secrets(Keys(), CoderSettings())
        state = session.data["state"] = CoderSession(session, SharedResources(), policy, secrets, CoderSettings())
        state.servers = servers

    def on_change(self) -> None:
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
        await run_calls([call], turn, turn.session.data["state"], servers.tools(), self.results)

    @property
    def only(self) -> Servers:
        (servers,) = self.servers.values()
        return servers


def make_call_prompt(tool: str, server: str = "small", **arguments: Any) -> str:
    """Return the prompt that calls a tool."""
    return json.dumps({"tool": f"mcp__{server}__{tool}", "arguments": arguments})


def make_deadlines(**limits: float) -> Deadlines:
    """Return long deadlines, except for those that a test is about."""
    return Deadlines(**{"starting": 300.0, "first_prompt": 300.0, **limits})


def is_alive(pid: int) -> bool:
    """Return whether a process runs; zombies don't count."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
    except OSError:
        os.kill(pid, 0)
        return True


async def until(true: Callable[[], Any]) -> Any:
    """Wait until a condition is true, and return its value."""
    while not (found := true()):  # noqa: ASYNC110 - processes and files have no event to wait for
        await asyncio.sleep(0.01)
    return found

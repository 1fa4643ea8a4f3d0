"""A client played message by message, for tests of the protocol: the first steps in either version."""

from __future__ import annotations

from typing import Any

from accord.testing import WirePeer

INFO = {"name": "by hand", "version": "1"}


async def hello(peer: WirePeer, version: int, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """Initialize, and return the agent's response."""
    names = ("clientInfo", "clientCapabilities") if version == 1 else ("info", "capabilities")
    params = {"protocolVersion": version, names[0]: INFO, names[1]: capabilities or {}}
    answer = await peer.call("initialize", params)
    result: dict[str, Any] = answer["result"]
    return result


async def new_session(peer: WirePeer, cwd: str = "/project", **more: Any) -> str:
    """Open a session, and return its id."""
    answer = await peer.call("session/new", {"cwd": cwd, "mcpServers": [], **more})
    id: str = answer["result"]["sessionId"]
    return id


async def begin_session(peer: WirePeer, version: int, capabilities: dict[str, Any] | None = None) -> str:
    """Initialize and open a session."""
    await hello(peer, version, capabilities)
    return await new_session(peer)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def ask(peer: WirePeer, session: str, *content: Any) -> int:
    """Send a prompt, and return the id of the request."""
    prompt = [text(piece) if isinstance(piece, str) else piece for piece in content]
    id: int = await peer.ask("session/prompt", {"sessionId": session, "prompt": prompt})
    return id


async def wait_for_stop(peer: WirePeer, version: int, id: int) -> str:
    """Wait for the end of a turn: the response in version 1, the state after the echoed prompt in version 2."""
    while True:
        reason = _ended_by_answer(peer, id) if version == 1 else _ended_by_state(peer, id)
        if reason is not None:
            return reason
        await peer.receive()


def _answer(peer: WirePeer, id: int) -> Any:
    for message in peer.received:
        if message.get("id") == id and "method" not in message:
            assert "result" in message, f"the prompt was refused: {message}"
            return message["result"]
    return None


def _ended_by_answer(peer: WirePeer, id: int) -> str | None:
    answer = _answer(peer, id)
    return None if answer is None else str(answer["stopReason"])


def _ended_by_state(peer: WirePeer, id: int) -> str | None:
    answer, begun = _answer(peer, id), False
    for update in peer.updates:
        begun = begun or (answer is not None and update.get("messageId") == answer["messageId"])
        if begun and update.get("state") == "idle":
            return str(update.get("stopReason"))
    return None


async def until_states(peer: WirePeer, *wanted: str) -> None:
    """Wait until exactly these states have been reported."""
    while states(peer.updates) != list(wanted):
        await peer.receive()


async def turn(peer: WirePeer, version: int, session: str, *content: Any) -> str:
    """Play a complete turn, and return its stop reason."""
    return await wait_for_stop(peer, version, await ask(peer, session, *content))


def kinds(updates: list[dict[str, Any]]) -> list[str]:
    return [update["sessionUpdate"] for update in updates]


def states(updates: list[dict[str, Any]]) -> list[str]:
    """Return the reported states, in order."""
    return [update["state"] for update in updates if update["sessionUpdate"] == "state_update"]

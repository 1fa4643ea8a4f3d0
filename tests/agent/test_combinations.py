"""Clients offer some things and not others: an agent works with every combination, and uses nothing else."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.wire_client import hello, new_session

from accord import Agent, CapabilityError, Turn
from accord.testing import WirePeer, wire_client

OFFERS: dict[int, dict[str, dict[str, Any]]] = {
    1: {
        "read_files": {"fs": {"readTextFile": True}},
        "write_files": {"fs": {"writeTextFile": True}},
        "terminals": {"terminal": True},
        "forms": {"elicitation": {"form": {}}},
        "urls": {"elicitation": {"url": {}}},
        "notices": {"session": {"notices": {}}},
        "compaction": {"session": {"compaction": {}}},
    },
    2: {
        "forms": {"elicitation": {"form": {}}},
        "urls": {"elicitation": {"url": {}}},
        "terminal_login": {"auth": {"terminal": {}}},
    },
}
"""By the name that an agent knows it by: how a client offers it."""

METHODS = {
    "fs/read_text_file": "read_files",
    "fs/write_text_file": "write_files",
    "terminal/create": "terminals",
    "form": "forms",
    "url": "urls",
}
UPDATES = {"notice": "notices", "compaction_update": "compaction"}


class Greedy(Agent):
    """Uses everything that a client may offer, in both versions by the same calls."""

    async def prompt(self, turn: Turn) -> None:
        await turn.files.write("a.txt", "text")
        await turn.files.read("a.txt")
        async with await turn.terminals.create("true") as terminal:
            await terminal.wait()
        await turn.ask("Who?", {"properties": {}})
        with suppress(CapabilityError) if not turn.client.offers.urls else nullcontext():
            await turn.ask("Log in", url="https://example.com", id="e")
        await turn.notice("Careful")
        await turn.session.compaction("c", "completed", summary="short")
        await turn.say("Done.")


async def play(peer: WirePeer, version: int, session: str) -> str:
    """Run one turn, answering every question of the agent. Returns the stop reason."""
    answers: dict[str, Any] = {
        "fs/read_text_file": {"content": "text"},
        "terminal/create": {"terminalId": "t"},
        "terminal/wait_for_exit": {"exitCode": 0},
        "elicitation/create": {"action": "cancel"},
    }
    id = await peer.ask("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]})
    while True:
        message = await peer.receive()
        if "method" in message and "id" in message:
            await peer.reply(message, answers.get(message["method"], {}))
        elif version == 1 and message.get("id") == id:
            assert "result" in message, message
            return str(message["result"]["stopReason"])
        elif message.get("params", {}).get("update", {}).get("state") == "idle":
            return str(message["params"]["update"]["stopReason"])


@pytest.mark.req("V1-INIT-15", "V2-INIT-16")
async def test_a_turn_ends_well_with_every_combination_and_uses_only_what_was_offered(
    version: int, tmp_path: Path
) -> None:
    names = list(OFFERS[version])
    for chosen in product([False, True], repeat=len(names)):
        offered = {name for name, is_offered in zip(names, chosen, strict=True) if is_offered}
        capabilities: dict[str, Any] = {}
        for name in offered:
            for key, value in OFFERS[version][name].items():
                if isinstance(value, dict):
                    capabilities[key] = {**capabilities.get(key, {}), **value}
                else:
                    capabilities[key] = value
        async with wire_client(Greedy()) as peer:
            await hello(peer, version, capabilities)
            session = await new_session(peer, str(tmp_path))
            assert await play(peer, version, session) == "end_turn", offered
        methods = [message for message in peer.received if "method" in message and "id" in message]
        asked = {message["params"].get("mode", message["method"]) for message in methods}
        used = {METHODS[method] for method in asked if method in METHODS}
        used |= {UPDATES[update["sessionUpdate"]] for update in peer.updates if update["sessionUpdate"] in UPDATES}
        always = {"notices", "compaction"} if version == 2 else set()  # version 2 need not offer them
        assert used == (offered - {"terminal_login"}) | always, offered

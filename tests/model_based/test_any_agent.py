"""A client before an agent that answers, echoes, works and ends in any order the protocol allows, with noise between.

Each turn has its own words and its own end, however the agent orders what it tells."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.link import until
from support.wire_agent import Played, chunk, tell

from accord import ConnectionClosed
from accord.testing import WirePeer, wire_agent

BOUND = 300.0

# What an agent of version 2 tells about one prompt: the answer, the echo, that it works, two words, and the end.
ORDERS = [
    "answer echo running word word idle",
    "echo answer running word word idle",
    "echo running answer word word idle",
    "echo running word word idle answer",
    "running echo word answer word idle",
    "answer running word echo word idle",
    "answer running word word idle",
    "echo running word blocked word running idle answer",
]
NOISE = ["late", "notice", "unknown", "garbage", "broken", "question", "nobody", "request"]


class Noisy:
    """An agent played by hand, that keeps to the protocol and to nothing else."""

    def __init__(self, peer: WirePeer, version: int) -> None:
        self.peer, self.version = peer, version
        self.questions: list[int] = []

    async def play(self, number: int, request: dict[str, Any], order: str, noise: list[tuple[int, str]]) -> None:
        for place, step in enumerate(order.split()):
            for at, what in noise:
                if at == place:
                    await self.make_noise(number, what)
            await self.tell(number, request, step)

    async def tell(self, number: int, request: dict[str, Any], step: str) -> None:
        reason = ["end_turn", "refusal", "max_tokens"][number % 3]
        match step:
            case "word":
                await tell(self.peer, "s", chunk(f"<{number}>", f"word {number}"))
            case "idle" if self.version == 1:
                await self.peer.reply(request, {"stopReason": reason})
            case _ if self.version == 1:
                return
            case "answer":
                await self.peer.reply(request, {"messageId": f"user {number}"})
            case "echo":
                text = [{"type": "text", "text": f"{number}"}]
                await tell(
                    self.peer, "s", {"sessionUpdate": "user_message", "messageId": f"user {number}", "content": text}
                )
            case "idle":
                await tell(self.peer, "s", {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
            case "running" | "blocked":
                state = "running" if step == "running" else "requires_action"
                await tell(self.peer, "s", {"sessionUpdate": "state_update", "state": state})

    async def make_noise(self, number: int, what: str) -> None:
        match what:
            case "late" if number > 0:
                await tell(self.peer, "s", chunk(f"<{number - 1}>", f"word {number - 1}"))
            case "notice":
                await tell(self.peer, "s", {"sessionUpdate": "notice", "severity": "info", "title": "Psst"})
            case "unknown":
                await tell(self.peer, "s", {"sessionUpdate": "_new", "x": [1]})
            case "garbage":
                await self.peer.send(b"this is no message {")
            case "broken":
                await tell(self.peer, "s", {"sessionUpdate": "agent_message_chunk"})
            case "nobody":
                await tell(self.peer, "elsewhere", chunk("who?", "m"))
            case "request":
                await self.peer.ask("_unheard/of", {})
            case "question":
                call = {"toolCallId": "c", "title": "May I?"}
                about: dict[str, Any] = {"toolCall": call}
                if self.version == 2:
                    about = {"title": "May I?", "subject": {"type": "tool_call", "toolCall": call}}
                options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
                params = {"sessionId": "s", "options": options, **about}
                self.questions.append(await self.peer.ask("session/request_permission", params))


TURN = st.tuples(st.sampled_from(ORDERS), st.lists(st.tuples(st.integers(0, 5), st.sampled_from(NOISE)), max_size=4))


@pytest.mark.req("V2-PROMPT-07", "V2-PROMPT-12", "V2-PROMPT-17", "V1-PROMPT-18", "V1-UPD-12", "V1-UPD-14")
@pytest.mark.parametrize("version", [1, 2], ids=["v1", "v2"])
@given(turns=st.lists(TURN, min_size=1, max_size=4), at_once=st.booleans(), crash=st.booleans())
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_each_turn_has_its_own_words_and_its_own_end(
    version: int, turns: list[tuple[str, list[tuple[int, str]]]], at_once: bool, crash: bool
) -> None:
    async def within() -> None:
        async with asyncio.timeout(BOUND):
            await _meet(version, turns, at_once, crash)

    asyncio.run(within())


async def _meet(version: int, turns: list[tuple[str, list[tuple[int, str]]]], at_once: bool, crash: bool) -> None:
    async with wire_agent(version, permissions=lambda request: True) as (peer, client):
        session = await Played(peer, client, version).begin()
        noisy = Noisy(peer, version)
        open_turns = [session.prompt(f"{n}") for n in range(len(turns))] if at_once else []
        # Version 1 sends one prompt at a time; version 2 sends all, and the agent takes them up one by one.
        for number, (order, noise) in enumerate(turns):
            turn = open_turns[number] if at_once else session.prompt(f"{number}")
            request = await peer.next_call("session/prompt")
            assert request["params"]["prompt"][0]["text"] == f"{number}"
            await noisy.play(number, request, order, noise)
            await turn
            assert turn.stop_reason == ["end_turn", "refusal", "max_tokens"][number % 3]
            assert turn.text == f"<{number}><{number}>"
        await _settle(peer, noisy)
        if crash:
            last = session.prompt("last")
            await peer.next_call("session/prompt")
            await peer.transport.close()
            with pytest.raises(ConnectionClosed):
                await last
            await until(lambda: session.closed)
        else:
            assert session.transcript.state == "idle"
            users = [item.text for item in session.transcript.timeline if getattr(item, "role", "") == "user"]
            assert users == [f"{n}" for n in range(len(turns))]


async def _settle(peer: WirePeer, noisy: Noisy) -> None:
    """Every question got exactly one answer."""
    await peer.quiet()
    for id in noisy.questions:
        assert len([m for m in peer.received if m.get("id") == id and "method" not in m]) == 1

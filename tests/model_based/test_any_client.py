"""An agent before a client that prompts, cancels, withdraws, answers and babbles in any order.

Every request is answered once, every turn is reported from start to finish and no further, every call that was
announced is ended, and the next prompt is handled as if nothing had been."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.wire_client import ask, begin_session, wait_for_stop

from accord import Agent, RequestFailed, Turn
from accord.testing import WirePeer, wire_client

BOUND = 300.0


class Puppet(Agent):
    """Does in each turn what it is told to, until it is told to stop."""

    def __init__(self) -> None:
        self.strings: asyncio.Queue[str] = asyncio.Queue()

    async def prompt(self, turn: Turn) -> str | None:
        while True:
            match await self.strings.get():
                case "say":
                    await turn.say(f"<{turn.text}>")
                case "tool":
                    async with turn.tool(turn.text):
                        await turn.permit(turn.text)
                case "leave a tool open":
                    await turn.tool(turn.text).start()
                case "two questions":
                    await asyncio.gather(turn.permit("one"), turn.permit("two"))
                case "fail":
                    raise RequestFailed("failed", code=-31000)
                case "fail with what cannot be encoded":
                    raise RequestFailed("failed \udce9", code=-31000, data={"path": object()})
                case "finish":
                    return "end_turn"


DEEDS = [
    "prompt",
    "prompt",
    "cancel",
    "withdraw",
    "yes",
    "error",
    "nonsense",
    "garbage",
    "unknown",
    "duplicate",
    "wait",
]
PULLS = ["say", "tool", "leave a tool open", "two questions", "fail", "fail with what cannot be encoded", "finish"]
STORIES = st.lists(st.sampled_from([*DEEDS, "wait", "wait", *(f"agent: {pull}" for pull in PULLS)]), max_size=30)


class Babbling:
    """A client played by hand."""

    def __init__(self, peer: WirePeer, puppet: Puppet, session: str) -> None:
        self.peer, self.puppet, self.session = peer, puppet, session
        self.prompts: list[int] = []

    async def do(self, deed: str) -> None:
        match deed:
            case "prompt":
                self.prompts.append(await ask(self.peer, self.session, f"{len(self.prompts)}"))
            case "cancel":
                await self.peer.tell("session/cancel", {"sessionId": self.session})
            case "withdraw":
                if self.prompts:
                    await self.peer.tell("$/cancel_request", {"requestId": self.prompts[-1]})
            case "yes" | "error" | "nonsense":
                await self.answer(deed)
            case "garbage":
                await self.peer.send(b"[1, {")
            case "unknown":
                await self.peer.tell("_unheard/of", {"a": 1})
            case "duplicate":
                await self.peer.send({"id": 12345, "result": {}})
            case "wait":
                for _ in range(10):
                    await asyncio.sleep(0)
            case pull:
                self.puppet.strings.put_nowait(pull.removeprefix("agent: "))

    @property
    def questions(self) -> list[dict[str, Any]]:
        asked = [m for m in self.peer.received if m.get("method") == "session/request_permission"]
        return asked[self.answered :]

    answered = 0

    async def answer(self, how: str) -> None:
        if self.questions:
            question = self.questions[0]
            self.answered += 1
            if how == "error":
                await self.peer.refuse(question, -32603)
            else:
                outcome = {"outcome": "selected", "optionId": "allow_once"} if how == "yes" else {"outcome": 7}
                await self.peer.reply(question, {"outcome": outcome})


@pytest.mark.req("V1-CANCEL-05", "V1-CANCEL-13", "V2-CANCEL-10", "V2-CANCEL-13", "V2-CANCEL-16", "V2-PROMPT-14")
@pytest.mark.parametrize("version", [1, 2], ids=["v1", "v2"])
@given(story=STORIES)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_request_is_answered_once_and_every_turn_told_to_its_end(version: int, story: list[str]) -> None:
    async def within() -> None:
        async with asyncio.timeout(BOUND):
            await _meet(version, story)

    asyncio.run(within())


async def _meet(version: int, story: list[str]) -> None:
    puppet = Puppet()
    async with wire_client(puppet) as peer:
        client = Babbling(peer, puppet, await begin_session(peer, version))
        for deed in story:
            await client.do(deed)
        while not _all_over(peer, client, version):
            puppet.strings.put_nowait("finish")
            await client.answer("yes")
            await asyncio.sleep(0)
        while not puppet.strings.empty():
            puppet.strings.get_nowait()
        for pull in ("say", "finish"):
            puppet.strings.put_nowait(pull)
        last = await ask(peer, client.session, "last")
        assert await wait_for_stop(peer, version, last) == "end_turn"
        _check(peer, client, version)


def _answers(peer: WirePeer, id: int) -> list[dict[str, Any]]:
    return [message for message in peer.received if message.get("id") == id and "method" not in message]


def _all_over(peer: WirePeer, client: Babbling, version: int) -> bool:
    if not all(_answers(peer, id) for id in client.prompts):
        return False
    states = [update["state"] for update in peer.updates if update["sessionUpdate"] == "state_update"]
    return version == 1 or states[-1:] in ([], ["idle"])


def _check(peer: WirePeer, client: Babbling, version: int) -> None:
    for id in client.prompts:
        (answer,) = _answers(peer, id)
        assert "error" not in answer or answer["error"]["code"] in (-32800, -31000)
    calls: dict[str, str] = {}
    for update in peer.updates:
        if "toolCallId" in update and "status" in update:
            calls[update["toolCallId"]] = update["status"]
    assert set(calls.values()) <= {"completed", "failed", "cancelled"}
    said = [
        re.findall(r"<(\w+)>", update["content"]["text"])
        for update in peer.updates
        if "chunk" in update["sessionUpdate"]
    ]
    order = [name for names in said for name in names]
    assert order == sorted(order, key=lambda name: 10**9 if name == "last" else int(name))
    if version == 2:
        words = {"user_message": "u", "running": "r", "requires_action": "a", "idle": "i"}
        told = "".join(words.get(u["sessionUpdate"], "") or words.get(u.get("state", ""), "") for u in peer.updates)
        assert re.fullmatch(r"(ur(ar?)*i)*", told), told

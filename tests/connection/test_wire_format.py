"""The bytes that both sides write: one message per line, spelled as in the protocol."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from connection.one_end import BOUND

import accord
from accord.agent.side import AgentSide
from accord.testing import ScriptedAgent, ScriptedClient
from accord.transports.memory import pair

CAMEL = re.compile(r"[a-z][A-Za-z0-9]*|_meta")
SNAKE = re.compile(r"[a-z][a-z0-9_]*")
DISCRIMINATORS = {"sessionUpdate", "type", "kind", "status", "state", "stopReason", "outcome", "priority", "severity"}
FREE = {"_meta", "rawInput", "rawOutput", "properties", "default", "data"}
"""Keys whose insides belong to others."""


async def works(turn: accord.Turn) -> None:
    """Uses much of what there is."""
    await turn.think("hm\nhm")
    await turn.plan(["first", "second"])
    async with turn.tool("Edit é\n", kind="edit", locations=["/p/a.py"]) as tool:
        await tool.show("text")
        await tool.diff("/p/a.py", "old\n", "new\n")
    assert await turn.permit("Write", kind="edit")
    await turn.say("two\nlines and ‘ünïcödé’ 🥛")


async def record_messages(version: int) -> list[tuple[str, bytes]]:
    """A whole conversation between our own two sides, as the lines that went by."""
    seen: list[tuple[str, bytes]] = []
    ours, theirs = pair()
    side = AgentSide(ScriptedAgent([works]), theirs)
    side.connection.watch(lambda direction, block: seen.extend((direction, line) for line in block.splitlines(True)))
    serving = asyncio.ensure_future(side.serve())
    async with accord.connect(ours, versions={version}, cwd="/p", **ScriptedClient().options()) as agent:
        session = await agent.new_session()
        await asyncio.wait_for(session.prompt("go\non — “ja”"), BOUND)
        with pytest.raises(accord.RequestFailed):
            await agent.request("_not/here", {"a": 1})
        await agent.notify("_not/here", {"a": 1})
        await session.close()
    await asyncio.wait_for(serving, BOUND)
    return seen


@pytest.fixture
async def traffic(version: int) -> list[tuple[str, dict[str, Any]]]:
    return [(direction, json.loads(line)) for direction, line in await record_messages(version)]


@pytest.mark.req("V1-FRAME-01", "V1-FRAME-02", "V1-FRAME-03", "V1-FRAME-04", "V2-FRAME-01")
async def test_every_line_is_one_object_in_utf_8(version: int) -> None:
    lines = [line for _, line in await record_messages(version)]

    assert len(lines) > 10
    for line in lines:
        assert line.endswith(b"\n") and line.count(b"\n") == 1 and b"\r" not in line
        assert isinstance(json.loads(line.decode("utf-8")), dict)
    assert any("🥛".encode() in line for line in lines)


@pytest.mark.req(
    "V1-FRAME-08", "V1-FRAME-09", "V2-FRAME-02", "V2-FRAME-03", "V1-FRAME-13", "V1-FRAME-14", "V2-FRAME-08"
)
@pytest.mark.req("V1-FRAME-16", "V1-FRAME-17", "V1-FRAME-19", "V1-FRAME-21", "V1-FRAME-22", "V2-FRAME-07")
async def test_either_side_sends_nothing_but_messages(traffic: list[tuple[str, dict[str, Any]]]) -> None:
    for _, message in traffic:
        assert message["jsonrpc"] == "2.0"
        keys = set(message) - {"jsonrpc"}
        if "method" in message:
            assert keys in ({"method", "params"}, {"id", "method", "params"})
            assert isinstance(message["method"], str) and isinstance(message["params"], dict)
            assert type(message.get("id", 0)) is int
        else:
            assert keys in ({"id", "result"}, {"id", "error"})
        if "error" in message:
            assert type(message["error"]["code"]) is int and isinstance(message["error"]["message"], str)
            assert set(message["error"]) <= {"code", "message", "data"}


@pytest.mark.req("V1-FRAME-20", "V1-FRAME-25", "V1-FRAME-34", "V2-FRAME-11", "V2-FRAME-12")
async def test_every_request_of_either_side_has_one_answer_of_the_other(
    traffic: list[tuple[str, dict[str, Any]]],
) -> None:
    other = {"in": "out", "out": "in"}
    asked = [(direction, message["id"]) for direction, message in traffic if "method" in message and "id" in message]
    answered = [(other[direction], message["id"]) for direction, message in traffic if "method" not in message]

    assert sorted(asked) == sorted(answered)
    assert len(set(asked)) == len(asked)


@pytest.mark.req("V1-FRAME-40", "V2-FRAME-31")
async def test_keys_are_camel_case_and_kinds_are_snake_case(traffic: list[tuple[str, dict[str, Any]]]) -> None:
    for _, message in traffic:
        for value in (message.get("params"), message.get("result")):
            lint(value, message.get("method", "answer"))


@pytest.mark.req("V2-FRAME-34")
async def test_in_version_2_every_id_is_named_for_what_it_identifies() -> None:
    for _, line in await record_messages(2):
        message = json.loads(line)
        for value in (message.get("params"), message.get("result")):
            assert "id" not in keys_in(value), line


@pytest.mark.req("V1-FRAME-23")
async def test_what_an_error_says_is_short_and_one_line(traffic: list[tuple[str, dict[str, Any]]]) -> None:
    errors = [message["error"]["message"] for _, message in traffic if "error" in message]

    assert errors
    assert all(len(text) < 200 and "\n" not in text for text in errors)


def lint(value: Any, where: str) -> None:
    if isinstance(value, list):
        for item in value:
            lint(item, where)
    elif isinstance(value, dict):
        for key, item in value.items():
            assert CAMEL.fullmatch(key) or where.startswith("_"), f"{where}: {key}"
            if key in DISCRIMINATORS and isinstance(item, str):
                assert SNAKE.fullmatch(item), f"{where}: {key} is {item}"
            if key not in FREE:
                lint(item, where)


def keys_in(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys_in, value))
    if isinstance(value, dict):
        return set(value).union(*(keys_in(item) for key, item in value.items() if key not in FREE))
    return set()

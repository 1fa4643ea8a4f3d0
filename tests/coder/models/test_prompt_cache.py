"""The cached prefix of requests, as each provider receives it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from coder.models.provider_client import connect_model, every_wire, read_end, request, their_warnings, user_message
from coder.providers.server import FakeProvider

from accord.coder.history import Call, ModelSaid, Result, ToolsSaid
from accord.config.settings import Retention

pytestmark = their_warnings
FIVE_MINUTES = {"type": "ephemeral", "ttl": "5m"}
ONE_HOUR = {"type": "ephemeral", "ttl": "1h"}
HISTORY = (
    user_message("Look."),
    ModelSaid(parts=[Call(id="c1", name="read_file", arguments={"path": "a"})]),
    ToolsSaid(results=[Result(id="c1", name="read_file", text="the text")]),
)


async def send(wire: str, *, cache: Retention | None = None, **fields: Any) -> Any:
    async with FakeProvider() as fake, connect_model(fake, wire, cache=cache) as model:
        await read_end(model, request(*HISTORY, **fields))
        return fake.asked[0].body


@pytest.mark.parametrize(("cache", "prefix"), [(None, FIVE_MINUTES), ("1h", ONE_HOUR)])
async def test_anthropic_caches_tools_instructions_and_the_conversation(
    cache: Retention | None, prefix: dict[str, str]
) -> None:
    body = await send("anthropic", cache=cache)
    assert body["tools"][-1]["cache_control"] == prefix
    assert body["system"][-1]["cache_control"] == prefix
    assert body["cache_control"] == FIVE_MINUTES


@pytest.mark.parametrize(("cache", "prefix"), [(None, FIVE_MINUTES), ("1h", ONE_HOUR)])
async def test_claude_at_openrouter_is_cached_like_claude_at_anthropic(
    cache: Retention | None, prefix: dict[str, str]
) -> None:
    body = await send("openrouter", cache=cache)
    assert body["tools"][-1]["cache_control"] == prefix
    system, *_, last = body["messages"]
    assert system["content"][-1]["cache_control"] == prefix
    assert last["role"] == "tool"
    assert last["content"][-1]["cache_control"] == FIVE_MINUTES


@pytest.mark.parametrize("wire", ["vercel", "copilot"])
async def test_claude_behind_a_gateway_is_cached_like_claude_at_anthropic(wire: str) -> None:
    body = await send(wire, cache="1h")
    assert body["tools"][-1]["cache_control"] == ONE_HOUR
    assert body["system"][-1]["cache_control"] == ONE_HOUR
    assert body["messages"][-1]["content"][-1]["cache_control"] == FIVE_MINUTES
    assert "cache_control" not in body, "not every platform behind a gateway has automatic caching"


@pytest.mark.parametrize("wire", ["responses", "openrouter"])
async def test_requests_of_a_session_share_a_cache_key(wire: str) -> None:
    assert (await send(wire, session="session-1"))["prompt_cache_key"] == "session-1"


@pytest.mark.parametrize("wire", ["anthropic", "google", "chat"])
async def test_other_providers_never_see_the_session(wire: str) -> None:
    assert "session-1" not in json.dumps(await send(wire, session="session-1"))


@every_wire
async def test_a_failed_call_is_reported_as_plain_text(wire: str) -> None:
    failed = Result(id="c1", name="read_file", text='no line says "x"', failed=True)
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        await read_end(model, request(*HISTORY[:2], ToolsSaid(results=[failed])))
        sent = json.dumps(fake.asked[0].body)
    assert r"no line says \"x\"" in sent
    assert r"\\\"x" not in sent


@every_wire
async def test_a_request_extends_the_one_before_it(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        await read_end(model, request(*HISTORY[:1], session="s"))
        await read_end(model, request(*HISTORY, session="s"))
        first, second = (asked.body for asked in fake.asked)
    name = next(each for each in ("messages", "input", "contents") if each in first)
    before, after = _unmark(first.pop(name)), _unmark(second.pop(name))
    assert after[: len(before)] == before
    assert first == second


def _unmark(value: Any) -> Any:
    """Remove the marks of the cache, which move with the end of the conversation. A marked text is a list of one."""
    if isinstance(value, list):
        return [_unmark(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _unmark(each) for key, each in value.items() if key != "cache_control"}
    match plain.get("content"):
        case [{"type": "text", "text": text}]:
            plain["content"] = text
    return plain

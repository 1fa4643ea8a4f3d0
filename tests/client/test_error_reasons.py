"""The reason of a failure is part of its message, wherever the agent put it."""

from __future__ import annotations

from typing import Any

import pytest
from support.wire_agent import Played

from accord import RequestFailed
from accord.testing import wire_agent


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("rate limited", "rate limited"),
        ({"details": "400 credit balance too low"}, "400 credit balance too low"),
        ({"message": "invalid API key"}, "invalid API key"),
        ({"reason": "model overloaded"}, "model overloaded"),
        ({"error": "no such model"}, "no such model"),
        ({"error": {"type": "invalid_request", "message": "no such model"}}, "no such model"),
        ({"details": {"message": "no such model"}}, "no such model"),
        ({"details": "", "message": "  spaced\n out "}, "spaced out"),
        ({"detail": "no such model"}, "no such model"),
        ({"cause": {"message": "no such model"}}, "no such model"),
        (["", {"code": 5}, "rate limited", "try later"], "rate limited"),
        ([{"error": {"code": 429, "message": "rate limited"}}], "rate limited"),
        ({"errors": [{"type": "missing", "loc": ["mcpServers", 0], "msg": "Required"}]}, "mcpServers.0: Required"),
        ({"errors": [{"type": "missing", "loc": [], "msg": "Required"}]}, "Required"),
        ({"_errors": ["Unrecognized key"], "cwd": {"_errors": []}}, "Unrecognized key"),
        ({"_errors": [], "a": {"_errors": [], "b": {"_errors": ["Required"]}}}, "a: b: Required"),
    ],
)
def test_the_reason_in_the_data_is_part_of_the_message(data: Any, reason: str) -> None:
    error = RequestFailed.of(-32603, "Internal error", data, "session/prompt")
    assert str(error) == f"session/prompt: Internal error: {reason} (code -32603)"


@pytest.mark.parametrize(
    "data", [None, {}, [], 7, {"path": "cwd"}, {"details": 5}, {"error": {"error": {"error": {}}}}, [[], [{}], 7]]
)
def test_data_without_a_reason_leaves_the_message_as_it_is(data: Any) -> None:
    assert str(RequestFailed.of(-32603, "Internal error", data, "session/new")) == (
        "session/new: Internal error (code -32603)"
    )


@pytest.mark.parametrize(
    ("message", "data", "text"),
    [
        ("Internal error: rate limited", "Rate limited", "Internal error: rate limited"),
        ("Internal error", "Internal error: rate limited", "Internal error: rate limited"),
    ],
)
def test_nothing_is_said_twice(message: str, data: str, text: str) -> None:
    assert RequestFailed.of(-32603, message, data, "session/new").explanation == text


def test_a_reason_is_truncated_and_the_data_is_not() -> None:
    error = RequestFailed.of(-32603, "Internal error", {"details": "x" * 5000}, "session/new")
    assert len(str(error)) < 1100 and str(error).endswith("x… (code -32603)")
    assert error.reason == "x" * 5000


def test_an_error_raised_on_this_side_shows_no_code() -> None:
    assert str(RequestFailed("the disk is full")) == "the disk is full"


@pytest.mark.parametrize("version", [1, 2])
async def test_a_failed_turn_tells_the_agents_reason(version: int) -> None:
    error: dict[str, Any] = {
        "code": -32603,
        "message": "Internal error",
        "data": {"details": "400 credit balance too low"},
    }
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn = session.prompt("go")
        await peer.refuse(await peer.next_call("session/prompt"), **error)
        with pytest.raises(RequestFailed, match="Internal error: 400 credit balance too low") as failed:
            await turn
    assert failed.value.data == error["data"]


def test_a_message_of_any_length_is_shown_truncated() -> None:
    error = RequestFailed.of(-32603, "x" * 5_000_000, None, "session/prompt")
    assert len(str(error)) < 11_000 and len(error.message) == 5_000_000

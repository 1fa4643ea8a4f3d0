"""Streamed replies of each provider, over real sockets."""

from __future__ import annotations

import asyncio
import json

import pytest
from coder.models.provider_client import (
    connect_model,
    every_wire,
    read_end,
    read_pieces,
    request,
    text_of,
    their_warnings,
    thoughts_of,
)
from coder.providers.script import Calls, Raw, Says, Stops, Thinks, Usage
from coder.providers.server import FakeProvider

from accord.coder.history import Call
from accord.coder.models.base import CallArguments, CallBegins, CallReady, Ended, SaidPiece, Spent

pytestmark = their_warnings


@every_wire
async def test_a_reply_comes_in_pieces_and_then_whole(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Hel", "lo ", "there."))
        found = await read_pieces(model)
    assert [piece.text for piece in found if isinstance(piece, SaidPiece)] == ["Hel", "lo ", "there."]
    last = found[-1]
    assert isinstance(last, Ended)
    assert last.message.text == "Hello there."
    assert last.message.model == model.id
    assert last.reason == "end"
    assert sum(isinstance(piece, Ended) for piece in found) == 1


@every_wire
async def test_thoughts_and_text_are_distinguished(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Thinks("Let me ", "see."), Says("Yes."))
        found = await read_pieces(model)
    assert thoughts_of(found) == "Let me see."
    assert text_of(found) == "Yes."


@every_wire
async def test_a_call_begins_with_its_name_and_is_ready_with_its_arguments(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(
            Says("I look."),
            Calls("read_file", {"path": "a.py"}, id="c1"),
            Calls("read_file", {"path": "ü.py"}, id="c2"),
        )
        found = await read_pieces(model)
    assert [piece.id for piece in found if isinstance(piece, CallBegins)] == ["c1", "c2"]
    ready = [piece.call for piece in found if isinstance(piece, CallReady)]
    assert [(call.id, call.name, call.arguments) for call in ready] == [
        ("c1", "read_file", {"path": "a.py"}),
        ("c2", "read_file", {"path": "ü.py"}),
    ]
    last = found[-1]
    assert isinstance(last, Ended)
    assert last.message.calls == ready
    assert last.reason == "calls"


@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses"])  # Google sends arguments whole
async def test_the_arguments_of_a_call_arrive_in_pieces(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Calls("read_file", {"path": "a.py"}, id="c1"), Calls("read_file", {"path": "ü.py"}, id="c2"))
        found = await read_pieces(model)
    pieces = [piece for piece in found if isinstance(piece, CallArguments)]
    for id, path in (("c1", "a.py"), ("c2", "ü.py")):
        texts = [piece.text for piece in pieces if piece.id == id]
        assert len(texts) > 1
        assert json.loads("".join(texts)) == {"path": path}


@every_wire
async def test_a_call_without_arguments_has_none(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Calls("read_file", {}, text=""))
        last = await read_end(model)
    assert [(call.arguments, call.fault) for call in last.message.calls] == [({}, None)]


@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses"])  # Google sends arguments, not text
@pytest.mark.parametrize("text", ['{"path": "a', "[1, 2]"])
async def test_invalid_arguments_are_reported(wire: str, text: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Calls("read_file", text=text))
        (call,) = (await read_end(model)).message.calls
    assert call.arguments == {}
    assert call.fault is not None
    assert "the arguments aren't" in call.fault
    assert text in call.fault


async def test_two_calls_with_the_same_id_are_distinguished() -> None:
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.says(Calls("read_file", {"path": "a"}, id="same"), Calls("read_file", {"path": "b"}, id="same"))
        calls = (await read_end(model)).message.calls
    assert len({call.id for call in calls}) == len(calls) == 2


@pytest.mark.parametrize("wire", ["chat", "google"])
async def test_calls_without_ids_get_some(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Calls("read_file", {"path": "a"}, id=""), Calls("read_file", {"path": "b"}, id=""))
        found = await read_pieces(model)
    ids = [piece.call.id for piece in found if isinstance(piece, CallReady)]
    assert len(set(ids)) == len(ids) == 2
    assert all(ids)
    assert [piece.id for piece in found if isinstance(piece, CallBegins)] == ids


@every_wire
@pytest.mark.parametrize("reason", ["length", "refusal"])
async def test_the_reason_why_an_answer_ended_is_reported(wire: str, reason: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Well"), end=reason)  # type: ignore[arg-type]
        assert (await read_end(model)).reason == reason


async def test_a_prompt_that_google_blocks_is_a_refusal() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "It was blocked."}}
    async with FakeProvider() as fake, connect_model(fake, "google") as model:
        fake.says(Raw(f"data: {json.dumps(blocked)}\r\n\r\n"), Stops())
        last = await read_end(model)
    assert last.reason == "refusal"
    assert last.message.text == "It was blocked."


async def test_openai_refuses_in_its_own_words() -> None:
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"refusal": "I cannot help with that."}, "finish_reason": None}],
    }
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.says(Raw(f"data: {json.dumps(chunk)}\n\n"))
        found = await read_pieces(model)
    assert text_of(found) == "I cannot help with that."
    assert isinstance(last := found[-1], Ended)
    assert last.reason == "refusal"


@every_wire
async def test_the_tokens_of_an_answer_are_counted(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Hi"), usage=Usage(input=1000, output=500, cached_read=200, thought=0))
        spent = (await read_end(model)).spent
    assert (spent.input, spent.output, spent.cached_read) == (1200, 500, 200)


@pytest.mark.parametrize("wire", ["chat", "responses", "google"])
async def test_the_tokens_of_thoughts_are_counted(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Hi"), usage=Usage(input=10, output=500, thought=300))
        spent = (await read_end(model)).spent
    assert (spent.output, spent.thought) == (500, 300)


async def test_tokens_that_anthropic_writes_to_its_cache_are_counted() -> None:
    async with FakeProvider() as fake, connect_model(fake, "anthropic") as model:
        fake.says(Says("Hi"), usage=Usage(input=10, output=5, cached_read=100, cached_write=50))
        spent = (await read_end(model)).spent
    assert (spent.input, spent.cached_read, spent.cached_write) == (160, 100, 50)


@pytest.mark.parametrize(("wire", "cost"), [("anthropic", 12.0), ("google", 4.5)])
async def test_the_cost_of_an_answer_follows_from_the_price_of_the_model(wire: str, cost: float) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Hi"), usage=Usage(input=1_000_000, output=1_000_000))
        spent = (await read_end(model)).spent
    assert spent.cost is not None
    assert spent.cost > 0
    assert spent.cost == pytest.approx(cost, rel=0.9)  # prices change; that there is one does not


@pytest.mark.parametrize(("read", "written", "saved"), [(1_000_000, 0, 1.9), (0, 1_000_000, -0.5), (0, 0, 0.0)])
async def test_the_value_of_the_cache_follows_from_the_prices_of_the_model(
    read: int, written: int, saved: float
) -> None:
    async with FakeProvider() as fake, connect_model(fake, "anthropic") as model:
        fake.says(Says("Hi"), usage=Usage(input=10, output=5, cached_read=read, cached_write=written))
        spent = (await read_end(model)).spent
    assert spent.saved == pytest.approx(saved)


async def test_a_server_that_does_not_report_tokens_is_not_asked_to() -> None:
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.says(Says("Hi"), usage=Usage(input=0, output=0))
        last = await read_end(model)
    assert last.message.text == "Hi"
    assert last.spent == Spent()


async def test_an_unknown_cost_is_none() -> None:
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.says(Says("Hi"))
        assert (await read_end(model)).spent.cost is None


@every_wire
async def test_one_model_answers_several_requests_at_once(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        for _ in range(5):
            fake.says(Says("The same."))
        answers = await asyncio.gather(*(read_end(model, request()) for _ in range(5)))
    assert [answer.message.text for answer in answers] == ["The same."] * 5


async def test_a_valid_call_has_no_fault() -> None:
    async with FakeProvider() as fake, connect_model(fake, "anthropic") as model:
        fake.says(Calls("read_file", {"path": "x"}))
        (call,) = (await read_end(model)).message.calls
    assert call == Call(id="call_1", name="read_file", arguments={"path": "x"})

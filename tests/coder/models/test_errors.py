"""Errors of providers, over real sockets: the provider, the problem, the remedy, and whether to retry."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import sys

import pytest
from coder.models.provider_client import (
    connect_model,
    every_wire,
    read_end,
    read_error,
    read_pieces,
    read_until_error,
    request,
    their_warnings,
)
from coder.providers.script import Calls, Cuts, Fails, Holds, Raw, Says, Stops, Thinks
from coder.providers.server import FakeProvider

from accord.coder.credentials import Key
from accord.coder.models.base import SaidPiece
from accord.coder.models.providers import Provider
from accord.coder.models.pydantic_ai.model import ProviderModel

pytestmark = their_warnings
TITLES = {
    "anthropic": "Anthropic",
    "chat": "vLLM",
    "responses": "OpenAI",
    "google": "Google",
    "openrouter": "OpenRouter",
}


@every_wire
@pytest.mark.parametrize("status", [401, 403])
async def test_a_rejected_key_is_an_error_that_says_what_to_do(wire: str, status: int) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(status, "invalid key secret-key-of-mine")
        error = await read_error(model)
    assert error.kind == "key"
    assert not error.retry
    assert f"{TITLES[wire]} rejected the key in MY_KEY ({status}: invalid key" in str(error)
    assert "accord login" in str(error)
    assert "secret-key-of-mine" not in str(error)


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("MY_KEY", "environment", "the key in MY_KEY (401: no): change that variable, or unset it and run: "),
        ("keyring", "keyring", "the key in the keyring (401: no): run: "),
        ("/home/me/keys.json", "file", "the key in /home/me/keys.json (401: no): run: "),
    ],
)
async def test_a_rejected_key_has_a_source_and_two_actions(source: str, kind: str, words: str) -> None:
    async with FakeProvider() as fake:
        provider = Provider(name="anthropic", title="Anthropic", api="anthropic", base_url=fake.url)
        model = ProviderModel(provider, "claude-sonnet-5-5", Key(value="secret-key-of-mine", source=source))
        fake.refuses(401)
        error = await read_error(model)
        await model.close()
    assert str(error) == f"Anthropic rejected {words}accord login anthropic; or choose another model"
    assert error.details["providerTitle"] == "Anthropic"
    assert error.details["rejected"] is True
    assert error.details["key"] == {"kind": kind, "source": source}
    assert [action["title"] for action in error.details["actions"]] == ["Enter another key", "Choose another model"]
    assert "secret-key-of-mine" not in json.dumps(error.details)


async def test_a_bad_key_is_an_invalid_argument_to_google() -> None:
    about = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    inner = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [about]}
    body = json.dumps({"error": inner})
    async with FakeProvider() as fake, connect_model(fake, "google") as model:
        fake.refuses(400, body=body)
        assert (await read_error(model)).kind == "key"


@every_wire
async def test_a_model_that_the_provider_does_not_have_is_answered_with_similar_ones(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(404, "no such model")
        error = await read_error(model)
    assert error.kind == "model"
    assert not error.retry
    assert f"{TITLES[wire]} has no model {model.id.partition(':')[2]!r} (404: no such model)" in str(error)


async def test_a_misspelled_model_is_answered_with_the_right_name() -> None:
    async with FakeProvider() as fake:
        provider = Provider(name="anthropic", title="Anthropic", api="anthropic", base_url=fake.url)
        model = ProviderModel(provider, "claude-sonet-5-5")
        fake.refuses(404, "model: claude-sonet-5-5")
        error = await read_error(model)
        await model.close()
    assert "did you mean anthropic:claude-sonnet-5-5" in str(error)


@pytest.mark.parametrize(
    ("wire", "words", "type"),
    [
        ("anthropic", "prompt is too long: 250000 tokens > 200000 maximum", ""),
        ("chat", "This model's maximum context length is 8192 tokens.", ""),
        ("chat", "the request exceeds the available context size, try increasing it", "exceed_context_size_error"),
        ("responses", "Your input exceeds the context window of this model.", "context_length_exceeded"),
        ("google", "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", ""),
        *[
            ("chat", words, "")
            for words in (
                "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000",
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
                "Please reduce the length of the messages or completion.",
                "This endpoint's maximum context length is 262144 tokens. However, you requested about 300000 tokens.",
                "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
                "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
                "Your request exceeded model token limit: 262144 (requested: 300000)",
                "Prompt exceeds max length",
                "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
                "The prompt is too long: 300000, model maximum context length: 262143",
                "prompt too long; exceeded max context length by 4 tokens",
                "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
                "The number of tokens to keep from the initial prompt is greater than the context length.",
                "prompt token count of 140000 exceeds the limit of 128000",
                "invalid params, context window exceeds limit (2013)",
                "Input is too long for requested model.",
                "Range of input length should be [1, 258048]",
                "too many tokens: total number of tokens in the prompt cannot exceed 128000",
                "Requested input length 9000 exceeds maximum input length 8192",
                "The provided prompt is 9000 tokens long, but the maximum supported sequence length is just 8192!",
                "`inputs` must have less than 4096 tokens. Given: 5000",
                "Requested tokens (9000) exceed context window of 4096",
                "the prompt has 9000 tokens, more than n_ctx = 4096",
                "The request exceeds the limit of 131072 tokens",
                "Prompt 超长",
            )
        ],
    ],
)
async def test_a_history_that_is_too_long_is_a_context_error(wire: str, words: str, type: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(400, words, type=type)
        error = await read_error(model)
    assert error.kind == "context"
    assert not error.retry
    assert words in str(error)


async def test_a_limit_of_tokens_per_minute_is_not_a_context_error() -> None:
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.refuses(400, "Too many tokens, please wait before trying again.")
        assert (await read_error(model)).kind == ""


async def test_an_answer_that_filled_the_context_is_a_context_error() -> None:
    async with FakeProvider() as fake, connect_model(fake, "anthropic") as model:
        fake.says(Says("Well"), end="window")
        assert (await read_until_error(model))[1].kind == "context"


async def test_a_server_error_about_the_context_is_a_context_error() -> None:
    async with FakeProvider() as fake, connect_model(fake, "chat") as model:
        fake.refuses(500, "Context size has been exceeded.")
        error = await read_error(model)
    assert (error.kind, error.retry) == ("context", False)


@every_wire
async def test_a_request_that_is_refused_for_another_reason_is_not_repeated(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(400, "tools.0.name: too long")
        error = await read_error(model)
    assert (error.kind, error.retry) == ("", False)
    assert "rejected the request (400: tools.0.name: too long)" in str(error)


@every_wire
async def test_rate_limited_requests_are_retried_after_the_requested_time(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(429, "slow down", retry_after="7")
        error = await read_error(model)
    assert error.retry
    assert error.after == 7
    assert "is limiting the request rate (429: slow down)" in str(error)


async def test_an_account_without_credit_is_not_retried() -> None:
    async with FakeProvider() as fake, connect_model(fake, "responses") as model:
        fake.refuses(429, "You exceeded your current quota", type="insufficient_quota")
        error = await read_error(model)
    assert not error.retry
    assert "out of credit" in str(error)


@every_wire
@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_errors_of_a_provider_are_retried(wire: str, status: int) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(status, "oh")
        error = await read_error(model)
    assert error.retry
    assert f"({status}: oh)" in str(error)


@every_wire
async def test_every_failure_takes_one_request(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        for status in (429, 500, 503):
            fake.refuses(status, "no")
            await read_error(model)
        fake.says(Cuts())
        await read_error(model)
        assert len(fake.asked) == 4


@every_wire
async def test_an_error_page_is_not_shown_to_the_user(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(502, body="<html><body><h1>Bad Gateway</h1></body></html>")
        error = await read_error(model)
    assert error.retry
    assert "(502" in str(error)
    assert "<h1>" not in str(error)


@every_wire
@pytest.mark.parametrize("step", [Cuts(), Stops()], ids=["cut", "stopped"])
async def test_an_interrupted_answer_is_retried(wire: str, step: Cuts | Stops) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Half of"), step)
        heard, error = await read_until_error(model)
    assert heard == [SaidPiece(text="Half of")]
    assert error.retry
    assert str(error).startswith(f"{TITLES[wire]} ")
    assert "mid-response" in str(error)


@every_wire
@pytest.mark.parametrize("step", [Cuts(), Stops()], ids=["cut", "stopped"])
async def test_an_answer_interrupted_before_it_starts_is_retried(wire: str, step: Cuts | Stops) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(step)
        assert (await read_error(model)).retry


@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses"])
async def test_an_interrupted_call_is_never_ready(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Thinks("hm"), Calls("write_file", text='{"path": "a", "content": "ha'), Cuts())
        found, _ = await read_until_error(model)
    assert [type(piece).__name__ for piece in found[:2]] == ["ThoughtPiece", "CallBegins"]
    assert {type(piece).__name__ for piece in found[2:]} == {"CallArguments"}


@every_wire
async def test_an_error_inside_the_stream_is_retried(wire: str) -> None:
    type = {"anthropic": "overloaded_error", "chat": "overloaded", "responses": "server_error"}.get(wire, "")
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Well"), Fails(type, "We are overloaded"))
        error = await read_error(model)
    assert error.retry


@every_wire
@pytest.mark.parametrize(
    "text",
    [
        "data: {nonsense\n\n",
        'data: {"type": 5, "choices": "x", "candidates": 7}\n\n',
        "data: [1, 2]\n\n",
        "data: \xff\n\n",
    ],
)
async def test_an_invalid_stream_is_an_error_that_names_the_provider(wire: str, text: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Raw(text), Stops())
        error = await read_error(model)
    assert TITLES[wire] in str(error)


@every_wire
async def test_a_web_page_instead_of_a_stream_is_an_error(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.refuses(200, body="<html>welcome</html>")
        error = await read_error(model)
    assert TITLES[wire] in str(error)


@every_wire
async def test_after_a_failure_the_model_answers_again(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("Half"), Cuts())
        await read_error(model)
        fake.says(Says("Whole"))
        assert (await read_end(model)).message.text == "Whole"


# -- the connection


async def test_a_local_server_that_is_not_running_is_reported_and_not_retried() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        provider = Provider(name="ollama", title="Ollama", base_url=f"http://127.0.0.1:{port}/v1", needs_key=False)
        model = ProviderModel(provider, "qwen3")
        error = await read_error(model)
        await model.close()
    assert not error.retry
    assert f"Couldn't reach Ollama: nothing is listening at http://127.0.0.1:{port}/v1" in str(error)


async def test_an_unknown_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    provider = Provider(name="x", title="X", base_url="http://no-such-host.invalid/v1", needs_key=False)
    model = ProviderModel(provider, "m")
    error = await read_error(model)
    await model.close()
    assert "Couldn't reach X: unknown host" in str(error)
    assert (error.retry, error.max_retries) == (True, 1)


async def test_a_server_without_tls_is_reported() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        provider = Provider(name="x", title="X", base_url=f"https://127.0.0.1:{port}/v1", needs_key=False)
        model = ProviderModel(provider, "m")
        error = await read_error(model)
        await model.close()
    assert "Couldn't reach X: the TLS connection failed" in str(error)
    assert not error.retry


def test_an_untrusted_certificate_is_reported() -> None:
    from pydantic_ai.exceptions import ModelConnectionError

    from accord.coder.models.errors import ProviderErrors

    theirs = ModelConnectionError("m", "Connection error.")
    theirs.__cause__ = ConnectionError()
    theirs.__cause__.__cause__ = ssl.SSLCertVerificationError(1, "self-signed certificate")
    provider = Provider(name="x", title="X", base_url="https://models.example/v1")
    error = ProviderErrors(provider, "m", None).translate(theirs, started=False)
    assert "Couldn't reach X: its certificate isn't trusted" in str(error)
    assert not error.retry


@every_wire
async def test_a_provider_that_stays_silent_too_long_is_retried(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire, timeout=0.2) as model:
        fake.says(Holds())
        error = await read_error(model)
    assert error.retry
    assert "timed out" in str(error)


# -- hanging up


@every_wire
async def test_closing_the_generator_hangs_up_at_once(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("One", " two"), Holds())
        stream = model.stream(request())
        assert await anext(stream) == SaidPiece(text="One")
        await stream.aclose()
        await fake.asked[0].gone.wait()
        fake.says(Says("Again"))
        assert (await read_end(model)).message.text == "Again"


@every_wire
async def test_cancelling_the_task_hangs_up_at_once(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Says("One"), Holds())
        begun = asyncio.Event()

        async def listen() -> None:
            async for _ in model.stream(request()):
                begun.set()

        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await fake.asked[0].gone.wait()


@every_wire
async def test_cancelling_before_the_first_token_hangs_up_at_once(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        await read_pieces(model)  # loads the library, so that the next request has been sent when it is cancelled
        fake.says(Holds())
        task = asyncio.create_task(read_pieces(model))
        held = await fake.is_asked(2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await held.gone.wait()


async def test_cancelling_while_the_library_is_loaded_leaves_the_model_usable() -> None:
    async with FakeProvider() as fake, connect_model(fake, "anthropic") as model:
        task = asyncio.create_task(read_pieces(model))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await read_end(model)).message.text == "Hello."


async def test_a_library_that_is_missing_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(name="anthropic", title="Anthropic", api="anthropic", base_url="http://127.0.0.1:9")
    model = ProviderModel(provider, "m")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pydantic_ai.models.anthropic", None)
        model.warm()
        error = await read_error(model)
    assert "pip install 'accord-acp[coder]'" in str(error)
    assert not error.retry
    assert "Couldn't reach" in str(await read_error(model))
    await model.close()

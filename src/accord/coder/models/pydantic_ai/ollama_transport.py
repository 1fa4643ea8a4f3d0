"""An HTTP transport that sends chat requests to Ollama's own API.

Ollama's OpenAI-compatible API has no field for the context window, and silently drops the beginning of requests that
don't fit. Its own API has one. Only the form of the messages differs, so the library's translation stays in use, and
this module rewrites its requests and the stream that comes back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

PATH = "/v1/chat/completions"
NATIVE_PATH = "/api/chat"
WINDOW = "num_ctx"
"""The field of a request with the window. Requests without it are sent unchanged."""
_SAMPLING = {"temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop"}
_LIMITS = ("max_completion_tokens", "max_tokens")


class OllamaTransport(httpx2.AsyncBaseTransport):
    """Rewrites chat requests that have a window."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if not path.endswith(PATH):
            return await self._inner.handle_async_request(request)
        body = json.loads(await request.aread())
        if WINDOW not in body:
            return await self._inner.handle_async_request(request)
        headers = {name: value for name, value in request.headers.items() if name not in ("content-length", "host")}
        native = httpx2.Request(
            "POST",
            request.url.copy_with(path=path.removesuffix(PATH) + NATIVE_PATH),
            headers=headers,
            content=json.dumps(native_request(body)).encode(),
            extensions=request.extensions,
        )
        response = await self._inner.handle_async_request(native)
        if response.status_code != 200:
            return response
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=kind, stream=_Events(response.stream), extensions=response.extensions)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Events(httpx2.AsyncByteStream):
    """Ollama's lines as the events of a chat completion."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        translator = ChunkTranslator()
        rest = b""
        async for data in self._inner:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line.strip():
                    for event in translator.translate(json.loads(line)):
                        yield event
        if rest.strip():
            for event in translator.translate(json.loads(rest)):
                yield event

    async def aclose(self) -> None:
        await self._inner.aclose()


def native_request(body: dict[str, Any]) -> dict[str, Any]:
    """Rewrite the body of a chat completion request."""
    options: dict[str, Any] = {WINDOW: body[WINDOW]}
    options |= {theirs: body[ours] for ours, theirs in _SAMPLING.items() if body.get(ours) is not None}
    limit = next((body[name] for name in _LIMITS if body.get(name) is not None), None)
    if limit is not None:
        options["num_predict"] = limit
    native: dict[str, Any] = {
        "model": body["model"],
        "messages": list(_native_messages(body["messages"])),
        "stream": True,
        "options": options,
    }
    if body.get("tools"):
        native["tools"] = body["tools"]
    if effort := body.get("reasoning_effort"):
        native["think"] = effort
    return native


def _native_messages(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    for message in messages:
        text, images = _content(message.get("content"))
        native: dict[str, Any] = {"role": message["role"], "content": text}
        if native["role"] == "developer":
            native["role"] = "system"
        if images:
            native["images"] = images
        if thought := message.get("reasoning") or message.get("reasoning_content"):
            native["thinking"] = thought
        if calls := message.get("tool_calls"):
            native["tool_calls"] = [_native_call(call) for call in calls]
            names |= {call["id"]: call["function"]["name"] for call in calls}
        if native["role"] == "tool":
            native["tool_name"] = names.get(message.get("tool_call_id", ""), "")
        yield native


def _native_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:  # as the model wrote them
        arguments = {}
    return {"function": {"name": function["name"], "arguments": arguments if isinstance(arguments, dict) else {}}}


def _content(content: Any) -> tuple[str, list[str]]:
    """Return the text of a message, and its images as base64."""
    if not isinstance(content, list):
        return content or "", []
    texts = [part["text"] for part in content if part.get("type") == "text"]
    urls = [part["image_url"]["url"] for part in content if part.get("type") == "image_url"]
    return "\n".join(texts), [url.partition("base64,")[2] for url in urls]


class ChunkTranslator:
    """Rewrites the lines of one response as chunks of a chat completion."""

    def __init__(self) -> None:
        self._calls = 0

    def translate(self, line: dict[str, Any]) -> Iterator[bytes]:
        """Rewrite a line."""
        if error := line.get("error"):
            yield _event({"error": {"message": str(error), "type": "server_error", "code": None, "param": None}})
            return
        message = line.get("message") or {}
        delta: dict[str, Any] = {"role": "assistant"}
        if message.get("content"):
            delta["content"] = message["content"]
        if message.get("thinking"):
            delta["reasoning"] = message["thinking"]
        if calls := [self._call(call) for call in message.get("tool_calls") or []]:
            delta["tool_calls"] = calls
        if len(delta) > 1:
            yield _chunk(line, delta)
        if line.get("done"):
            reason = "length" if line.get("done_reason") == "length" else "tool_calls" if self._calls else "stop"
            read, written = line.get("prompt_eval_count") or 0, line.get("eval_count") or 0
            usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
            yield _chunk(line, {}, reason)
            yield _event({**_head(line), "choices": [], "usage": usage})
            yield b"data: [DONE]\n\n"

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        index, self._calls = self._calls, self._calls + 1
        function = call["function"]
        return {
            "index": index,
            "id": call.get("id") or f"call_{index}",
            "type": "function",
            "function": {"name": function["name"], "arguments": json.dumps(function.get("arguments") or {})},
        }


def _head(line: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-ollama", "object": "chat.completion.chunk", "created": 0, "model": line.get("model") or ""}


def _chunk(line: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _event({**_head(line), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()

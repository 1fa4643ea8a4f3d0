"""Answers in the format of OpenAI's chat completions and compatible servers: chunks of a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Refusal, Says, Stops, Thinks

ENDS = {"end": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}
CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def line(data: Any) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def thoughts_as_text(step: Thinks) -> Iterator[dict[str, Any]]:
    return ({"reasoning_content": piece} for piece in step.pieces)


def spell(
    answer: Answer, asked: Any, thoughts: Callable[[Thinks], Iterator[dict[str, Any]]] = thoughts_as_text, **more: Any
) -> Iterator[bytes | Holds | Cuts | Stops]:
    """Yield an answer. `thoughts` writes the deltas of a thought, and `more` is part of every chunk."""
    head: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": asked["model"],
    }
    head |= more

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return line({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    calls = 0
    for step in answer.steps:
        match step:
            case Thinks():
                yield from (chunk(delta) for delta in thoughts(step))
            case Says(pieces=pieces):
                yield from (chunk({"content": piece}) for piece in pieces)
            case Calls(name=name, id=id):
                function: dict[str, Any] = {"name": name, "arguments": ""}
                yield chunk({"tool_calls": [{"index": calls, "id": id, "type": "function", "function": function}]})
                for piece in step.pieces:
                    if not isinstance(piece, str):
                        yield piece
                        continue
                    yield chunk({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
            case Raw(text=text):
                yield text.encode()
            case Fails(type=type, message=words):
                yield line({"error": {"message": words, "type": type, "param": None, "code": type}})
                return
            case _:
                yield step
    yield chunk({}, ENDS[answer.reason])
    if (asked.get("stream_options") or {}).get("include_usage") and answer.usage.input:
        yield line({**head, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    read = usage.input + usage.cached_read
    return {
        "prompt_tokens": read,
        "completion_tokens": usage.output,
        "total_tokens": read + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached_read},
        "completion_tokens_details": {"reasoning_tokens": usage.thought},
    }


def refusal(planned: Refusal) -> Any:
    code = planned.type or CODES.get(planned.status)
    return {"error": {"message": planned.message, "type": "invalid_request_error", "param": None, "code": code}}

"""Answers in Anthropic's format: a message, its content blocks and their deltas, as named events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Refusal, Says, Stops, Thinks

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
ENDS = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "window": "model_context_window_exceeded",
}


def event(type: str, **fields: Any) -> bytes:
    return f"event: {type}\ndata: {json.dumps({'type': type, **fields})}\n\n".encode()


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    usage = answer.usage
    read = {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cached_read,
        "cache_creation_input_tokens": usage.cached_write,
    }
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**read, "output_tokens": 1},
    }
    yield event("message_start", message=message)
    yield event("ping")
    for index, step in enumerate(answer.steps):
        match step:
            case Thinks(pieces=pieces, signature=signature):
                deltas: list[Any] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
                deltas.append({"type": "signature_delta", "signature": signature or "sealed"})
                yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
            case Says(pieces=pieces):
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
                yield from _block(index, {"type": "text", "text": ""}, deltas)
            case Calls(name=name, id=id):
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece} if isinstance(piece, str) else piece
                    for piece in ["", *step.pieces]
                ]
                yield from _block(index, {"type": "tool_use", "id": id, "name": name, "input": {}}, deltas)
            case Raw(text=text):
                yield text.encode()
            case Fails(type=type, message=words):
                yield event("error", error={"type": type, "message": words})
                return
            case _:
                yield step
    delta = {"stop_reason": ENDS[answer.reason], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage={**read, "output_tokens": usage.output})
    yield event("message_stop")


def _block(index: int, block: dict[str, Any], deltas: list[Any]) -> Iterator[bytes | Holds | Cuts | Stops]:
    yield event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield event("content_block_delta", index=index, delta=delta) if isinstance(delta, dict) else delta
    yield event("content_block_stop", index=index)


def refusal(planned: Refusal) -> Any:
    type = planned.type or TYPES.get(planned.status, "api_error")
    return {"type": "error", "error": {"type": type, "message": planned.message}, "request_id": "req_1"}

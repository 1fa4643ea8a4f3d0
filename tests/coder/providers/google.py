"""Answers in Google's format: whole parts, including thoughts, in a series of responses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Refusal, Says, Stops, Thinks

ENDS = {"end": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def line(data: Any) -> bytes:
    return f"data: {json.dumps(data)}\r\n\r\n".encode()


def sign(text: str) -> str:
    return base64.b64encode((text or "sealed").encode()).decode()


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    usage = answer.usage
    metadata = {
        "promptTokenCount": usage.input + usage.cached_read,
        "cachedContentTokenCount": usage.cached_read,
        "candidatesTokenCount": usage.output - usage.thought,
        "thoughtsTokenCount": usage.thought,
        "totalTokenCount": usage.input + usage.cached_read + usage.output,
    }

    def response(*parts: dict[str, Any], finish: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return line({"candidates": [candidate], "usageMetadata": metadata, "modelVersion": "fake", "responseId": "r1"})

    signature = ""
    for step in answer.steps:
        match step:
            case Thinks(pieces=pieces):
                yield from (response({"text": piece, "thought": True}) for piece in pieces)
                signature = step.signature
            case Says(pieces=pieces):
                yield from (response({"text": piece}) for piece in pieces)
            case Calls(name=name, arguments=arguments):
                part: dict[str, Any] = {"functionCall": {"name": name, "args": arguments}}
                if step.id:
                    part["functionCall"]["id"] = step.id
                if signature:
                    part["thoughtSignature"] = sign(signature)
                yield response(part)
            case Raw(text=text):
                yield text.encode()
            case Fails(message=words):
                yield line({"error": {"code": 503, "message": words, "status": "UNAVAILABLE"}})
                return
            case _:
                yield step
    yield response({"text": ""}, finish=ENDS[answer.reason])


def refusal(planned: Refusal) -> Any:
    status = planned.type or STATUSES.get(planned.status, "UNKNOWN")
    return {"error": {"code": planned.status, "message": planned.message, "status": status}}

"""Answers in the format of Amazon Bedrock's Converse API: events in binary frames with checksums."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Refusal, Says, Stops, Thinks

CONTENT_TYPE = "application/vnd.amazon.eventstream"
ENDS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "content_filtered"}


def frame(kind: str, **body: Any) -> bytes:
    payload = json.dumps(body).encode()
    names = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        struct.pack(f"!B{len(name)}sBH{len(value)}s", len(name), name.encode(), 7, len(value), value.encode())
        for name, value in names.items()
    )
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    yield frame("messageStart", role="assistant")
    for index, step in enumerate(answer.steps):
        deltas: list[Any] = []
        match step:
            case Thinks(pieces=pieces, signature=signature):
                deltas = [{"reasoningContent": {"text": piece}} for piece in pieces]
                deltas.append({"reasoningContent": {"signature": signature or "sealed"}})
            case Says(pieces=pieces):
                deltas = [{"text": piece} for piece in pieces]
            case Calls(name=name, id=id):
                start = {"toolUse": {"toolUseId": id, "name": name}}
                yield frame("contentBlockStart", contentBlockIndex=index, start=start)
                deltas = [{"toolUse": {"input": piece}} if isinstance(piece, str) else piece for piece in step.pieces]
            case Raw(text=text):
                yield text.encode()
                continue
            case Fails():
                return
            case _:
                yield step
                continue
        for delta in deltas:
            yield (
                frame("contentBlockDelta", contentBlockIndex=index, delta=delta) if isinstance(delta, dict) else delta
            )
        yield frame("contentBlockStop", contentBlockIndex=index)
    yield frame("messageStop", stopReason=ENDS[answer.reason])
    usage = answer.usage
    counts = {"inputTokens": usage.input, "outputTokens": usage.output, "totalTokens": usage.input + usage.output}
    cached = {"cacheReadInputTokens": usage.cached_read, "cacheWriteInputTokens": usage.cached_write}
    yield frame("metadata", usage=counts | cached, metrics={"latencyMs": 1})


def refusal(planned: Refusal) -> Any:
    return {"message": planned.message}

"""Answers in the format of Ollama's own API: a line of JSON for each piece."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Refusal, Says, Stops, Thinks


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    def line(done: bool = False, more: dict[str, Any] | None = None, **message: Any) -> bytes:
        body = {"model": asked["model"], "created_at": "2026-11-18T00:00:00Z", "done": done, **(more or {})}
        return json.dumps(body | {"message": {"role": "assistant", "content": "", **message}}).encode() + b"\n"

    for step in answer.steps:
        match step:
            case Thinks(pieces=pieces):
                yield from (line(thinking=piece) for piece in pieces)
            case Says(pieces=pieces):
                yield from (line(content=piece) for piece in pieces)
            case Calls(name=name, arguments=arguments):
                yield line(tool_calls=[{"function": {"name": name, "arguments": arguments}}])
            case Raw(text=text):
                yield text.encode()
            case Fails(message=words):
                yield json.dumps({"error": words}).encode() + b"\n"
                return
            case _:
                yield step
    reason = "length" if answer.reason == "length" else "stop"
    counts = {"prompt_eval_count": answer.usage.input, "eval_count": answer.usage.output}
    yield line(done=True, more={"done_reason": reason, **counts})


def refusal(planned: Refusal) -> Any:
    return {"error": planned.message}

"""Answers in the format of OpenAI's responses: items that are added, extended and completed, as numbered events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coder.providers.chat import refusal as refusal
from coder.providers.script import Answer, Calls, Cuts, Fails, Holds, Raw, Says, Stops, Thinks


class Spelling:
    """One answer; counts its events."""

    def __init__(self, answer: Answer, asked: Any) -> None:
        self.answer = answer
        self.asked = asked
        self.number = 0
        self.items: list[dict[str, Any]] = []

    def event(self, type: str, **fields: Any) -> bytes:
        data = {"type": type, "sequence_number": self.number, **fields}
        self.number += 1
        return f"event: {type}\ndata: {json.dumps(data)}\n\n".encode()

    def response(self, status: str, **fields: Any) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1790000000,
            "status": status,
            "model": self.asked["model"],
            "output": list(self.items),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            **fields,
        }

    def events(self) -> Iterator[bytes | Holds | Cuts | Stops]:
        yield self.event("response.created", response=self.response("in_progress"))
        yield self.event("response.in_progress", response=self.response("in_progress"))
        for step in self.answer.steps:
            match step:
                case Thinks():
                    yield from self._thinks(step)
                case Says():
                    yield from self._says(step)
                case Calls():
                    yield from self._calls(step)
                case Raw(text=text):
                    yield text.encode()
                case Fails(type=type, message=words):
                    error = {"code": type, "message": words}
                    yield self.event("response.failed", response=self.response("failed", error=error))
                    return
                case _:
                    yield step
        yield self._end()

    def _end(self) -> bytes:
        why = {"length": "max_output_tokens", "refusal": "content_filter"}.get(self.answer.reason)
        if why is None:
            return self.event("response.completed", response=self.response("completed", usage=self._usage()))
        details = {"reason": why}
        ended = self.response("incomplete", usage=self._usage(), incomplete_details=details)
        return self.event("response.incomplete", response=ended)

    def _thinks(self, step: Thinks) -> Iterator[bytes]:
        at = len(self.items)
        item: dict[str, Any] = {"type": "reasoning", "id": f"rs_{at}", "summary": []}
        where = {"item_id": item["id"], "output_index": at, "summary_index": 0}
        yield self.event("response.output_item.added", output_index=at, item=item)
        empty = {"type": "summary_text", "text": ""}
        yield self.event("response.reasoning_summary_part.added", **where, part=empty)
        for piece in step.pieces:
            yield self.event("response.reasoning_summary_text.delta", **where, delta=piece)
        whole = {"type": "summary_text", "text": "".join(step.pieces)}
        yield self.event("response.reasoning_summary_text.done", **where, text=whole["text"])
        yield self.event("response.reasoning_summary_part.done", **where, part=whole)
        done = {**item, "summary": [whole], "encrypted_content": step.signature or "sealed"}
        self.items.append(done)
        yield self.event("response.output_item.done", output_index=at, item=done)

    def _says(self, step: Says) -> Iterator[bytes]:
        at = len(self.items)
        item: dict[str, Any] = {"type": "message", "id": f"msg_{at}", "role": "assistant"}
        where = {"item_id": item["id"], "output_index": at, "content_index": 0}
        yield self.event(
            "response.output_item.added", output_index=at, item={**item, "status": "in_progress", "content": []}
        )
        part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
        yield self.event("response.content_part.added", **where, part=part)
        for piece in step.pieces:
            yield self.event("response.output_text.delta", **where, delta=piece, logprobs=[])
        part = {**part, "text": "".join(step.pieces)}
        yield self.event("response.output_text.done", **where, text=part["text"], logprobs=[])
        yield self.event("response.content_part.done", **where, part=part)
        done = {**item, "status": "completed", "content": [part]}
        self.items.append(done)
        yield self.event("response.output_item.done", output_index=at, item=done)

    def _calls(self, step: Calls) -> Iterator[bytes | Holds | Cuts | Stops]:
        at = len(self.items)
        item = {"type": "function_call", "id": f"fc_{at}", "call_id": step.id, "name": step.name, "arguments": ""}
        where = {"item_id": item["id"], "output_index": at}
        yield self.event("response.output_item.added", output_index=at, item={**item, "status": "in_progress"})
        for piece in step.pieces:
            if isinstance(piece, str):
                yield self.event("response.function_call_arguments.delta", **where, delta=piece)
            else:
                yield piece
        whole = "".join(piece for piece in step.pieces if isinstance(piece, str))
        yield self.event("response.function_call_arguments.done", **where, name=step.name, arguments=whole)
        done = {**item, "status": "completed", "arguments": whole}
        self.items.append(done)
        yield self.event("response.output_item.done", output_index=at, item=done)

    def _usage(self) -> dict[str, Any]:
        usage = self.answer.usage
        read = usage.input + usage.cached_read
        return {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": usage.cached_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.thought},
            "total_tokens": read + usage.output,
        }


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    yield from Spelling(answer, asked).events()

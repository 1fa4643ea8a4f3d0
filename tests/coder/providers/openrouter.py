"""Answers in OpenRouter's format: chat completions with the details of the reasoning, which go back unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coder.providers import chat
from coder.providers.chat import refusal as refusal
from coder.providers.script import Answer, Cuts, Holds, Stops, Thinks


def spell(answer: Answer, asked: Any) -> Iterator[bytes | Holds | Cuts | Stops]:
    return chat.spell(answer, asked, _thoughts, provider="Anthropic")


def _thoughts(step: Thinks) -> Iterator[dict[str, Any]]:
    detail = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
    for piece in step.pieces:
        yield {"reasoning": piece, "reasoning_details": [{**detail, "text": piece}]}
    yield {"reasoning_details": [{**detail, "signature": step.signature or "sealed"}]}

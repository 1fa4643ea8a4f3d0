"""Model families, recognized by name, wherever the model is served."""

from __future__ import annotations

import re
from typing import Literal

Family = Literal["claude", "gpt", "gemini", ""]
EFFORTS = ("low", "medium", "high")
"""The reasoning efforts that every model has that can think. Some have more; the snapshot lists them."""

_FAMILIES: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("claude", re.compile(r"(^|[./])claude\b")),
    ("gpt", re.compile(r"(^|[./])(gpt-(?!oss)|o[134](-|$)|codex|chatgpt)")),
    ("gemini", re.compile(r"(^|[./])gemini\b")),
)

_VERSION = re.compile(r"(?:-v\d+(?:[:-]\d+)?|[-@]20\d\d-?\d\d-?\d\d|-latest|-preview|-thinking)$")
"""Suffixes of a model's name that don't make it another model: versions, dates and channels."""


def bare_name(name: str) -> str:
    """Return the name that a model has with every provider: `claude-opus-4-5` for `anthropic/claude-opus-4.5`, and for
    `us.anthropic.claude-opus-4-5-20251101-v1:0`."""
    while (shorter := _VERSION.sub("", name)) != name:
        name = shorter
    name = re.split(r"[/:]|(?<=[a-z])\.(?=[a-z])", name.lower())[-1]
    return name.replace(".", "-")


def family(name: str) -> Family:
    """Return the family of a model, from its name or id: `anthropic/claude-opus-5.5`, `openai:gpt-6.1-sol`."""
    bare = name.lower().replace(":", "/")
    return next((found for found, pattern in _FAMILIES if pattern.search(bare)), "")

"""Keeps secrets out of what is written down: whatever is named like one, looks like one, or is given as one."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "••••"
# Bounded on both sides, so that a long word costs no more than its length.
_NAME = (
    r"(?<![\w-])[\w-]{0,40}?(?:token|secret|passw|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization"
    r"|cookie)[\w-]{0,40}"
)
_ASSIGNED = re.compile(rf"(?i)({_NAME}[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s\"'&;,]+)")
_OPTION = re.compile(rf"(?i)((?=--?){_NAME}\s+)(\"[^\"]*\"|'[^']*'|[^\s\"'-][^\s\"']*)")
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}")
_IN_ADDRESS = re.compile(r"(://)[^/\s@]*@")
_LOOKS_LIKE_ONE = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)"
)


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without secrets. `secrets` are values that must not appear."""
    for secret in sorted({each for each in secrets if len(each) >= 4}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _SCHEME.sub(rf"\1\2{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    text = _OPTION.sub(rf"\1{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    return _LOOKS_LIKE_ONE.sub(MASK, text)

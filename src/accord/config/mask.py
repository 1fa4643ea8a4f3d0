"""Keeps secrets out of diagnostics: values of variables that are named like secrets, and words that look like keys."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_NAME = r"(?:key(?!board|word)|token|secret|passw|credential|auth(?!or)|cookie|session_?id)"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_NO_SECRET = re.compile(r"(_FILE|_PATH|_DIR|_SOCK|_URL|_COMMAND)$|^(SSH_AUTH_SOCK|XAUTHORITY)$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(\.[A-Za-z0-9_-]*)?)"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_ASSIGNED = re.compile(rf"(?i)([\w-]*{_NAME}[\w-]*=)([^\s\"'&;,]{{4,}})")
_OPTION = re.compile(rf"(?i)(--[\w-]*{_NAME}[\w-]*\s+)([^\s\"'-][^\s\"']{{3,}})")
_IN_ADDRESS = re.compile(r"(://)[^/\s@:]*:[^/\s@]+@")
MASK = "••••"


def is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None and _NO_SECRET.search(name) is None


def masked(text: str, env: Mapping[str, str] | None = None) -> str:
    """The text without the values of secret variables, given and our own, and without what looks like a secret."""
    values = {
        value
        for source in (os.environ, env or {})
        for name, value in source.items()
        if len(value) >= 6 and is_secret_name(name)
    }
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK)
    text = _BEARER.sub(lambda found: f"{found[1]} {MASK}", _LOOKS_SECRET.sub(MASK, text))
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    text = _OPTION.sub(rf"\1{MASK}", text)
    return _IN_ADDRESS.sub(rf"\1{MASK}@", text)


def masked_env(env: Mapping[str, str]) -> dict[str, str]:
    """Variables for showing: secret ones masked."""
    return {name: MASK if is_secret_name(name) else masked(value, env) for name, value in env.items()}

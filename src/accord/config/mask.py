"""Keeps secrets out of diagnostics and logs: the values of variables that are named like secrets, what is given under
such a name, and words that look like keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

MASK = "••••"
_WORD = r"(?:key(?!board|word)|token(?!iz)|secret|passw|credential|auth(?!or(?!iz))|cookie|session_?id)"
# Bounded on both sides, so that a long word costs no more than its length.
_NAME = rf"(?<![\w-])[\w-]{{0,40}}?{_WORD}[\w-]{{0,40}}"
_VALUE = r"\"[^\"]*\"|'[^']*'|[^\s\"'&;,]{3,}"
_SECRET_NAME = re.compile(_WORD, re.IGNORECASE)
_NO_SECRET = re.compile(r"(_FILE|_PATH|_DIR|_SOCK|_URL|_COMMAND)$|^(SSH_AUTH_SOCK|XAUTHORITY)$", re.IGNORECASE)
# `NAME=value`, `"name": "value"`, `name: value`. A colon is also how sentences go on: then it has to look like a value.
_ASSIGNED = re.compile(
    rf"(?i)({_NAME}(?:[\"']\s*[:=]\s*|\s?=\s?|:\s*(?=[\"'])|:\s*(?=[^\s\"'&;,]{{6}})(?=[^\s\"'&;,]{{0,99}}\d)))"
    rf"(?!{MASK})({_VALUE})"
)
_OPTION = re.compile(
    rf"(?i)((?=--?)(?<![\w-])[\w-]{{0,40}}?{_WORD}[\w-]{{0,40}}\s+)(\"[^\"]*\"|'[^']*'|[^\s\"'-][^\s\"']*)"
)
_AUTHORIZATION = re.compile(r"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?(?:\w+[ \t]+)?)[^\s\"',]+")
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}")
_IN_ADDRESS = re.compile(r"(://)(?!git@)[^/\s@]*@")
_LOOKS_LIKE_ONE = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None and _NO_SECRET.search(name) is None


def secret_values(*environments: Mapping[str, str]) -> set[str]:
    """The values that the variables named like secrets have."""
    return {value for env in environments for name, value in env.items() if len(value) >= 6 and is_secret_name(name)}


def masked(text: str, env: Mapping[str, str] | None = None) -> str:
    """The text without the values of secret variables, given and our own, and without what looks like a secret."""
    return without(text, secret_values(os.environ, env or {}))


def without(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these values, and without what is named like a secret or looks like one."""
    for secret in sorted({each for each in secrets if len(each) >= 4}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _AUTHORIZATION.sub(rf"\1{MASK}", text)
    text = _SCHEME.sub(rf"\1\2{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    text = _OPTION.sub(rf"\1{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    return _LOOKS_LIKE_ONE.sub(MASK, text)


def masked_env(env: Mapping[str, str]) -> dict[str, str]:
    """Variables for showing: secret ones masked."""
    return {name: MASK if is_secret_name(name) else masked(value, env) for name, value in env.items()}

"""Redact secrets in diagnostics and logs: values of variables with secret names, values assigned to such names, and
strings that look like keys."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

Text = TypeVar("Text", str, bytes)
MASK = "••••"
SHORTEST_KEY = 12
"""Minimum length of values to redact wherever they occur; providers' keys are longer."""
MAX_DEPTH = 100
"""Maximum depth of data. Deeper data is redacted as a whole, so that a peer can't exhaust Python's stack."""
_WORD = r"(?:key(?!board|word)|token(?!iz)|secret|passw|credential|auth(?!or(?!iz))|cookie|session_?id)"
# Bounded on both sides, so that long words are matched in linear time.
# Exclude exception names, which look like names of secrets: KeyError, TokenError, AuthenticationError.
# Exclude counts of tokens, as in the providers' messages: `max_tokens: 100000 > 64000`.
_COUNT = r"[\w-]{0,40}tokens[\"']?\s?[:=]\s?\d{1,9}(?![\w.-])"
_NAME = rf"(?<![\w-])(?![\w-]{{0,80}}(?:error|exception|warning)\b|{_COUNT})[\w-]{{0,40}}?{_WORD}[\w-]{{0,40}}"
# Exclude quoted punctuation (Unexpected token: "<") and placeholders (api_key=...).
_VALUE = r"\"[^\"]{3,}\"|'[^']{3,}'|(?!\.\.\.(?!\w))[^\s\"'&;,]{3,}"
_SECRET_NAME = re.compile(_WORD, re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,9}")
_NO_SECRET = re.compile(r"(_FILE|_PATH|_DIR|_SOCK|_URL|_COMMAND)$|^(SSH_AUTH_SOCK|XAUTHORITY)$", re.IGNORECASE)
# `NAME=value`, `"name": "value"`, `name: value`. A colon may also be punctuation (log in with 'API Key': run this),
# so after a colon the text has to look like a value.
_ASSIGNED = re.compile(
    rf"(?i)({_NAME}(?:[\"']?\s?=\s*|[\"']?\s?:\s*(?:(?=[\"'])|(?=[^\s\"'&;,]{{6}})(?=[^\s\"'&;,]{{0,99}}\d))))"
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
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|accord_[\w-]{40,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)"
)

# An escape sequence, or the start of one at the end of the text.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|\Z)|\Z)")
_ESCAPE_BYTES = re.compile(_ESCAPE.pattern.encode())


def is_secret_name(name: str) -> bool:
    """Return whether a variable with this name holds a secret."""
    return _SECRET_NAME.search(name) is not None and _NO_SECRET.search(name) is None


def _is_secret(name: str, value: str) -> bool:
    """Return whether the name of a value suggests a secret, and the value isn't a count (MAX_THINKING_TOKENS=10000)."""
    is_count = name.lower().endswith("tokens") and _NUMBER.fullmatch(value) is not None
    return is_secret_name(name) and not is_count


def secret_values(*environments: Mapping[str, str], known: Collection[str] = ()) -> set[str]:
    """Collect the values of variables whose names suggest a secret, or that are `known` to hold one."""
    return {
        value
        for env in environments
        for name, value in env.items()
        if len(value) >= 6 and (name in known or _is_secret(name, value))
    }


def redact_text(text: str, env: Mapping[str, str] | None = None) -> str:
    """Redact the values of secret variables, in `env` and our own environment, and text that looks like a secret."""
    return redact_values(text, secret_values(os.environ, env or {}))


def redact_values(text: str, secrets: Iterable[str] = ()) -> str:
    """Redact these values, and text that is named like a secret or looks like one."""
    for secret in sorted({each for each in secrets if len(each) >= 4}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _AUTHORIZATION.sub(rf"\1{MASK}", text)
    text = _SCHEME.sub(rf"\1\2{MASK}", text)
    text = _ASSIGNED.sub(rf"\1{MASK}", text)
    text = _OPTION.sub(rf"\1{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    return _LOOKS_LIKE_ONE.sub(MASK, text)


def redact_data(value: Any, env: Mapping[str, str] | None = None, depth: int = MAX_DEPTH) -> Any:
    """Redact secrets in all text of JSON data, and the values of keys whose names suggest a secret."""
    if isinstance(value, str):
        return redact_text(value, env)
    if isinstance(value, (list, dict)) and depth == 0:
        return MASK
    if isinstance(value, list):
        return [redact_data(each, env, depth - 1) for each in value]
    if isinstance(value, dict):
        return {
            name: MASK if isinstance(each, str) and _names_secret(name, each) else redact_data(each, env, depth - 1)
            for name, each in value.items()
        }
    return value


def _names_secret(name: str, value: str) -> bool:
    """Return whether a key suggests a secret. A session id is a secret in a cookie, but not in ACP, where users see
    it."""
    return _is_secret(name, value) and name.lower() not in ("sessionid", "session_id")


def redact_known(value: Any, secrets: Collection[str]) -> Any:
    """Redact secrets in text, data or structs, at any depth.

    For content that people and models continue to work with. Unlike `redact_values`, it doesn't touch text that only
    looks like a secret, or secrets that are too short to be a key (`none`, `ollama`)."""
    long = sorted((secret for secret in secrets if len(secret) >= SHORTEST_KEY), key=len, reverse=True)
    return _redact_value(value, long, MAX_DEPTH) if long else value


def _redact_value(value: Any, secrets: list[str], depth: int) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = _replace(value, secret, MASK)
        case bytes():
            for secret in secrets:
                value = _replace(value, secret.encode(), MASK.encode())
        case list() | dict() if depth == 0:
            return MASK
        case list():
            return [_redact_value(each, secrets, depth - 1) for each in value]
        case dict():
            return {
                _redact_value(name, secrets, 0): _redact_value(each, secrets, depth - 1) for name, each in value.items()
            }
        case msgspec.Struct():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            found = {name: _redact_value(each, secrets, depth) for name, each in fields.items()}
            return msgspec.structs.replace(value, **found) if found != fields else value
    return value


def _replace(text: Text, secret: Text, mask: Text) -> Text:
    """Replace a secret, also if escape sequences interrupt it: `grep --color` puts them around the part it matched."""
    text = text.replace(secret, mask)
    if not _has_escapes(text):
        return text
    escape = _escape_of(text)
    pattern: re.Pattern[Text] = _compile_interrupted(secret)
    return pattern.sub(lambda match: mask + mask[:0].join(escape.findall(match[0])), text)


def _has_escapes(text: Text) -> bool:
    return "\x1b" in text if isinstance(text, str) else b"\x1b" in text


def _escape_of(text: Text) -> re.Pattern[Text]:
    return _ESCAPE if isinstance(text, str) else _ESCAPE_BYTES


@lru_cache(maxsize=64)
def _compile_interrupted(secret: Text) -> re.Pattern[Text]:
    between = f"(?:{_ESCAPE.pattern})*"
    if isinstance(secret, str):
        return re.compile(between.join(map(re.escape, secret)))
    characters = [re.escape(bytes([each])) for each in secret]
    return re.compile(between.encode().join(characters))


def count_held(text: Text, secrets: Collection[Text]) -> int:
    """Return the length of the end of a text that could be the start of a secret, because more text follows it.

    As in `redact_known`, values that are too short for a key are ignored, and escape sequences may interrupt them."""
    if not _has_escapes(text):
        return _count_held(text, secrets)
    escapes = [match.span() for match in _escape_of(text).finditer(text)]
    plain = _escape_of(text).sub(text[:0], text)
    left, start = _count_held(plain, secrets), len(text)
    if not left:
        return 0
    for begin, end in reversed(escapes):
        if start - end >= left:
            break
        left -= start - end
        start = begin
    return len(text) - (start - left)


def _count_held(text: Text, secrets: Collection[Text]) -> int:
    held = 0
    for secret in secrets:
        if len(secret) < SHORTEST_KEY:
            continue
        first, end = secret[:1], text[-(len(secret) - 1) :]
        start = end.find(first)
        while start >= 0 and len(end) - start > held:
            if secret.startswith(end[start:]):
                held = len(end) - start
                break
            start = end.find(first, start + 1)
    return held


def redact_env(env: Mapping[str, str]) -> dict[str, str]:
    """Redact the secret values of variables, for display."""
    return {name: MASK if _is_secret(name, value) else redact_text(value, env) for name, value in env.items()}

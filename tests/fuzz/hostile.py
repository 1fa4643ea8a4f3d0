"""Make hostile lines from real ones, and predict the responses that each must get.

The judge is as plain as it can be and shares nothing with what it judges: Python's own JSON reader and the rules of the
protocol, one line at a time."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.corpus import Call

Key = tuple[str, Any]
"""An id with its type: the number 1 and the string "1" are two."""

ODD_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e300,
    2**31,
    2**53 + 1,
    2**63,
    -(2**63) - 1,
    2**70,
    "",
    "1",
    "x" * 500,
    "\x00\x1f\u2028\ufeff",
    "𝕏 ünï",
    "../../etc/passwd",
    [],
    {},
    [[]],
    {"": {}},
    {"__proto__": 1, "_meta": "x"},
    [None] * 20,
]
ODD_TEXTS = [b"1e999", b"-1e999", b"1" * 400, b'"\\ud83d"', b'"\\u0000"', b"[" * 150 + b"]" * 150]
GARBAGE = [
    b"",
    b"\r",
    b"  \t",
    b"null",
    b"true",
    b"42",
    b'"text"',
    b"[]",
    b"{}",
    b"[[]]",
    b"[1,2,3]",
    b"NaN",
    b"{oops",
    b"}{",
    b"Traceback (most recent call last):",
    b'{"level":30,"time":1,"msg":"listening","id":0}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\x00\x00",
    b'{"jsonrpc":"2.0","id":0,"result":\xff}',
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","method":null,"id":null}',
]


class Hostile:
    """A source of hostile lines for one side."""

    def __init__(self, random: Random, asks: list[Call], tells: list[Call]) -> None:
        self._random = random
        self._asks = asks
        self._tells = tells
        self._last_id = 1000
        self._kinds: list[tuple[Callable[[], bytes], int]] = [
            (self._real, 30),
            (self._make_notification, 20),
            (self._make_changed, 20),
            (self._odd_text, 5),
            (self._cut, 4),
            (self._make_joined, 2),
            (self._byte_flipped, 4),
            (self._garbage, 4),
            (self._random_bytes, 2),
            (self._batch, 4),
            (self._answer, 5),
            (self._cancel, 4),
            (self._odd_envelope, 6),
        ]
        self._makers = [maker for maker, _ in self._kinds]
        self._weights = [weight for _, weight in self._kinds]

    def line(self) -> bytes:
        """Return one line, without its newline."""
        (maker,) = self._random.choices(self._makers, self._weights)
        return maker().replace(b"\n", b" ")

    def _id(self) -> Any:
        self._last_id += 1
        return self._last_id if self._random.random() < 0.7 else f"r{self._last_id}"

    def _ask(self) -> dict[str, Any]:
        method, params = self._random.choice(self._asks)
        return {"jsonrpc": "2.0", "id": self._id(), "method": method, "params": params}

    def _tell(self) -> dict[str, Any]:
        method, params = self._random.choice(self._tells)
        return {"jsonrpc": "2.0", "method": method, "params": params}

    def _any(self) -> dict[str, Any]:
        return self._ask() if self._random.random() < 0.6 else self._tell()

    def _dump(self, message: Any) -> bytes:
        if isinstance(message, dict) and self._random.random() < 0.2:
            keys = list(message)
            self._random.shuffle(keys)
            message = {key: message[key] for key in keys}
        text = json.dumps(message, ensure_ascii=self._random.random() < 0.5)
        return text.encode() + (b"\r" if self._random.random() < 0.05 else b"")

    def _real(self) -> bytes:
        return self._dump(self._ask())

    def _make_notification(self) -> bytes:
        return self._dump(self._tell())

    def _make_changed(self) -> bytes:
        """Return a real message with one to three values that are wrong, missing or extra."""
        message = copy.deepcopy(self._any())
        for _ in range(self._random.randint(1, 3)):
            self._change(message["params"] if isinstance(message["params"], (dict, list)) else message)
        return self._dump(message)

    def _change(self, value: Any) -> None:
        while True:
            keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
            if not keys:
                return
            key = self._random.choice(keys)
            if isinstance(value[key], (dict, list)) and value[key] and self._random.random() < 0.7:
                value = value[key]
                continue
            action = self._random.random()
            if action < 0.6:
                value[key] = copy.deepcopy(self._random.choice(ODD_VALUES))
            elif action < 0.85:
                del value[key]
            elif isinstance(value, dict):
                value[f"{key}_"] = copy.deepcopy(self._random.choice(ODD_VALUES))
            else:
                value.extend(copy.deepcopy(value))
            return

    def _odd_text(self) -> bytes:
        """Return a real message with a value that no JSON encoder writes."""
        message = copy.deepcopy(self._any())
        message["params"] = {"odd": "@@", **message["params"]} if isinstance(message["params"], dict) else ["@@"]
        return self._dump(message).replace(b'"@@"', self._random.choice(ODD_TEXTS))

    def _cut(self) -> bytes:
        line = self._dump(self._any())
        return line[: self._random.randint(0, len(line))]

    def _make_joined(self) -> bytes:
        return self._dump(self._any()) + self._random.choice([b"", b" ", b",", b"\x00"]) + self._dump(self._any())

    def _byte_flipped(self) -> bytes:
        line = bytearray(self._dump(self._any()))
        for _ in range(self._random.randint(1, 4)):
            line[self._random.randrange(len(line))] = self._random.randrange(256)
        return bytes(line)

    def _garbage(self) -> bytes:
        return self._random.choice(GARBAGE)

    def _random_bytes(self) -> bytes:
        return self._random.randbytes(self._random.randint(0, 60))

    def _batch(self) -> bytes:
        entries: list[Any] = [self._any() for _ in range(self._random.randint(1, 4))]
        if self._random.random() < 0.3:
            entries.insert(0, copy.deepcopy(self._random.choice(ODD_VALUES)))
        return self._dump(entries)

    def _answer(self) -> bytes:
        """Return a response, to a real request or not."""
        id = self._random.choice([0, 1, 2, self._random.randrange(2000), "0", None, 1.5, {}])
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id}
        if self._random.random() < 0.7:
            answer["result"] = copy.deepcopy(self._random.choice(ODD_VALUES))
        if self._random.random() < 0.4:
            answer["error"] = self._random.choice([{"code": -32000, "message": "no"}, {"code": "x"}, None, "no", []])
        return self._dump(answer)

    def _cancel(self) -> bytes:
        id = self._random.choice([self._last_id, self._last_id - 1, f"r{self._last_id}", 0, None, {}, True])
        return self._dump({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}})

    def _odd_envelope(self) -> bytes:
        """Return a message with an invalid envelope."""
        message = dict(self._any())
        key = self._random.choice(["jsonrpc", "id", "method", "params"])
        if self._random.random() < 0.3:
            message.pop(key, None)
        else:
            message[key] = copy.deepcopy(self._random.choice(ODD_VALUES))
        return self._dump(message)


# -- the judge


def count_owed(line: bytes) -> tuple[Counter[Key], Counter[Key]]:
    """Return the responses that a line must get and those that it may get, by id. Null ids aren't counted."""
    must: Counter[Key] = Counter()
    may: Counter[Key] = Counter()
    # Invalid UTF-8 may be in a part that isn't decoded, such as the name of an unknown key. That is not an error.
    text = line.strip().decode("utf-8-sig", "replace")
    is_text = "\ufffd" not in text
    try:
        messages = _values(text)
    except (ValueError, RecursionError):
        return must, may
    # Two messages in one line are invalid; followed by an empty line they may be read as two.
    is_one = len(messages) == 1
    for entry in [each for message in messages for each in (message if isinstance(message, list) else [message])]:
        if isinstance(entry, dict) and "id" in entry and _legal(entry["id"]):
            is_request = (
                is_text
                and is_one
                and entry.get("jsonrpc") == "2.0"
                and isinstance(entry.get("method"), str)
                and isinstance(entry.get("params", {}), (dict, list, type(None)))
            )
            (must if is_request else may)[key_of(entry["id"])] += 1
    return must, may


def _values(text: str) -> list[Any]:
    values, at = [], 0
    while at < len(text):
        value, at = _DECODER.raw_decode(text, at)
        values.append(value)
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r"))
    return values


def key_of(id: Any) -> Key:
    return type(id).__name__, id


def _legal(id: Any) -> bool:
    """Return an id that identifies its response: a string or a 64-bit integer."""
    if isinstance(id, str):
        return True
    return type(id) is int and -(2**63) <= id < 2**63


def _refuse(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse)

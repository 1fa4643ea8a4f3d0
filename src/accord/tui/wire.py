"""The log of one agent: what it printed and every message, from the first byte on, within a few megabytes.

Keeping a line costs next to nothing. What is shown is made readable when it is looked at: secrets are masked, and
nothing in it reaches the terminal as it is."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from accord.tui.gist import gist
from accord.tui.plain import plain, size_of

Kind = Literal["stderr", "in", "out", "trouble", "unknown"]
KEPT_BYTES = 8 * 1024 * 1024
KEPT_LENGTH = 256 * 1024
"""How much is kept: of everything, and of one line."""
SLICE = 256 * 1024
"""How many bytes are looked through before others get their turn."""

MARKS: dict[Kind, str] = {"stderr": "!", "in": "←", "out": "→", "trouble": "✗", "unknown": "?"}
WORDS: dict[Kind, str] = {
    "stderr": "printed",
    "in": "received",
    "out": "sent",
    "trouble": "trouble",
    "unknown": "not known here",
}
_OVERHEAD = 200
_METHOD = re.compile(rb'"method"\s*:\s*"([^"\\]{1,100})"')
_ID = re.compile(rb'"id"\s*:\s*("[^"\\]{0,100}"|-?\d{1,20})')
_UPDATE = re.compile(rb'"sessionUpdate"\s*:\s*"([^"\\]{1,60})"')
_HEAD = 400
# Names that only sound like secrets: without them a conversation could not be followed.
_HARMLESS = re.compile(r'"(session(?=Id")|\w*[Tt]ok(?=ens"))')
_BREAK = "\x01"


class Logged(NamedTuple):
    """One line: what an agent printed, or what went over the wire. Of a very long one only the beginning is kept."""

    at: float
    kind: Kind
    line: bytes
    size: int

    @property
    def is_whole(self) -> bool:
        return len(self.line) == self.size

    @property
    def weight(self) -> int:
        """About how many bytes it takes to keep it."""
        return len(self.line) + _OVERHEAD


class Log:
    """The newest lines."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._lines: deque[Logged] = deque()
        self._bytes = 0
        self.count = 0
        """How many lines there ever were."""

    def add(self, kind: Kind, line: bytes) -> None:
        line = line.rstrip(b"\r\n")
        kept = line if len(line) <= KEPT_LENGTH else line[:KEPT_LENGTH]
        logged = Logged(time.time(), kind, kept, len(line))
        self._lines.append(logged)
        self.count += 1
        self._bytes += logged.weight
        while self._bytes > self._most and len(self._lines) > 1:
            self._bytes -= self._lines.popleft().weight

    def saw(self, direction: Literal["in", "out"], lines: bytes) -> None:
        """Takes what went over the wire: one line, or several."""
        end = lines.find(b"\n")
        if end < 0 or end == len(lines) - 1:
            self.add(direction, lines)
            return
        for line in lines.splitlines():
            self.add(direction, line)

    def unknown(self, kind: str, update: dict[str, Any]) -> None:
        """Takes an update that nobody here understands, once more and by itself, so that it is found."""
        import msgspec

        self.add("unknown", msgspec.json.encode({"sessionUpdate": kind, **update}, enc_hook=repr))

    def since(self, count: int) -> Iterator[Logged]:
        """The lines after the first so many, as far as they are still there."""
        return islice(list(self._lines), max(len(self._lines) - (self.count - count), 0), None)

    def __len__(self) -> int:
        return len(self._lines)


class Wanted(NamedTuple):
    """What of a log is to be shown. All words must be there, `-word` must not; `method:word` and `-method:word` are
    about methods."""

    kinds: tuple[Kind, ...] | None = None
    words: tuple[bytes, ...] = ()
    unwanted: tuple[bytes, ...] = ()
    methods: tuple[str, ...] = ()
    unwanted_methods: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, kinds: tuple[Kind, ...] | None) -> Wanted:
        words, unwanted = [], []
        methods: list[str] = []
        unwanted_methods: list[str] = []
        for word in text.lower().split():
            if word.startswith("method:"):
                methods.append(word.removeprefix("method:"))
            elif word.startswith("-method:"):
                unwanted_methods.append(word.removeprefix("-method:"))
            elif word.startswith("-") and len(word) > 1:
                unwanted.append(word[1:].encode())
            elif word != "-":
                words.append(word.encode())
        return cls(kinds, tuple(words), tuple(unwanted), tuple(methods), tuple(filter(None, unwanted_methods)))


class Shown(NamedTuple):
    """A line of the log, and what is known of it."""

    logged: Logged
    method: str = ""
    is_answer: bool = False
    is_stray: bool = False
    """Whether it came over the wire and is no message at all."""


class Sieve:
    """Lets through what is wanted. Lines have to come in order: an answer is known by the request before it."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._asked: dict[tuple[str, bytes], str] = {}

    def sifted(self, lines: Iterable[Logged]) -> Iterator[Shown]:
        for line in lines:
            shown = self._known(line)
            if self._is_wanted(shown):
                yield shown

    def _known(self, line: Logged) -> Shown:
        if line.kind not in ("in", "out"):
            return Shown(line)
        if not line.line[:_HEAD].lstrip().startswith((b"{", b"[")):
            return Shown(line, is_stray=True)
        method = _METHOD.search(line.line, 0, _HEAD)
        id = _ID.search(line.line, 0, _HEAD)
        if method is not None:
            name = method[1].decode("utf-8", "replace")
            if name == "session/update" and (update := _UPDATE.search(line.line, 0, _HEAD)) is not None:
                name = f"{name} {update[1].decode('utf-8', 'replace')}"
            if id is not None:
                self._asked[line.kind, id[1]] = name
            return Shown(line, name)
        other = "out" if line.kind == "in" else "in"
        return Shown(line, self._asked.pop((other, id[1]), "") if id is not None else "", True)

    def _is_wanted(self, shown: Shown) -> bool:
        wanted, line = self._wanted, shown.logged
        if wanted.kinds is not None and line.kind not in wanted.kinds:
            return False
        method = shown.method.lower()
        if any(word not in method for word in wanted.methods) or any(
            word in method for word in wanted.unwanted_methods
        ):
            return False
        if not wanted.words and not wanted.unwanted:
            return True
        text = line.line.lower()
        return all(word in text for word in wanted.words) and not any(word in text for word in wanted.unwanted)


def clock(line: Logged) -> str:
    """When it was, to the millisecond."""
    return datetime.fromtimestamp(line.at).strftime("%H:%M:%S.%f")[:-3]


def title(shown: Shown) -> str:
    """What a message is: its method, or what it answers."""
    if shown.is_stray:
        return "no message"
    if shown.is_answer:
        return f"answer to {plain(shown.method)}" if shown.method else "answer"
    return plain(shown.method) if shown.method else WORDS[shown.logged.kind]


def contents(shown: Shown, secrets: Iterable[str], most: int) -> str:
    """The beginning of what a message says, without what is told of it already."""
    line = shown.logged
    if shown.method or shown.is_answer:
        told = gist(line.line)
        line = line._replace(line=told, size=len(told) if line.is_whole else line.size)
    return readable(line, secrets, most)


def readable(line: Logged, secrets: Iterable[str], most: int | None = None) -> str:
    """The text of a line, or the beginning of it, fit to be shown."""
    part = line.line if most is None else line.line[:most]
    text = plain(without_secrets(part.decode("utf-8", "replace"), secrets))
    if line.size > len(part) + 100:
        text += f" … {size_of(line.size)} in all"
    return text


def pretty(line: Logged, secrets: Iterable[str]) -> str:
    """A message on many lines. What is no JSON, or not whole, stays as it is."""
    import msgspec

    text = line.line
    if line.is_whole and line.kind in ("in", "out", "unknown"):
        with suppress(msgspec.MsgspecError):
            text = msgspec.json.format(text, indent=2)
    words = plain(without_secrets(text.decode("utf-8", "replace"), secrets))
    return words if line.is_whole else f"{words}\n… of {size_of(line.size)} only the beginning is kept"


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Masks what is or looks like a secret; the ids of sessions and numbers of tokens are none."""
    from accord.config.mask import without

    return without(_HARMLESS.sub(rf'"\1{_BREAK}', text.replace(_BREAK, "")), secrets).replace(_BREAK, "")


def as_text(lines: Iterable[Shown], secrets: Iterable[str]) -> str:
    """Lines for a file."""
    known = list(secrets)
    return "".join(
        f"{datetime.fromtimestamp(each.logged.at).astimezone().isoformat(timespec='milliseconds')} "
        f"{MARKS[each.logged.kind]} {readable(each.logged, known)}\n"
        for each in lines
    )

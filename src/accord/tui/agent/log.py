"""The log of one agent: its stderr and all protocol messages, up to a few megabytes.

Recording a line is cheap. Lines are formatted when they are shown: secrets are masked and text is sanitized."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from accord.terminal_text import format_size, sanitize

Kind = Literal["stderr", "in", "out", "problem", "unknown"]
MAX_LOG_BYTES = 8 * 1024 * 1024
MAX_LINE_BYTES = 256 * 1024
"""Maximum size of the log, and of a line."""
SEARCH_BYTES = 256 * 1024
"""How many bytes are searched before other tasks get a turn."""

MARKS: dict[Kind, str] = {"stderr": "!", "in": "←", "out": "→", "problem": "✗", "unknown": "?"}
WORDS: dict[Kind, str] = {
    "stderr": "printed",
    "in": "received",
    "out": "sent",
    "problem": "problem",
    "unknown": "unknown update",
}
_OVERHEAD = 200
_METHOD = re.compile(rb'"method"\s*:\s*"([^"\\]{1,100})"')
_ID = re.compile(rb'"id"\s*:\s*("[^"\\]{0,100}"|-?\d{1,20})')
_UPDATE = re.compile(rb'"sessionUpdate"\s*:\s*"([^"\\]{1,60})"')
_HEAD = 400
# Names that only sound like secrets; masking them would make the log useless.
_NOT_SECRET = re.compile(r'"(session(?=Id")|\w*[Tt]ok(?=ens"))')
_BREAK = "\x01"


class LogEntry(NamedTuple):
    """One line of stderr or one protocol message. Only the start of a very long one is kept."""

    at: float
    kind: Kind
    line: bytes
    size: int

    @property
    def is_whole(self) -> bool:
        return len(self.line) == self.size

    @property
    def weight(self) -> int:
        """The approximate memory use in bytes."""
        return len(self.line) + _OVERHEAD


class Log:
    """The newest lines, up to a total size."""

    def __init__(self, most: int = MAX_LOG_BYTES) -> None:
        self._most = most
        self._lines: deque[LogEntry] = deque()
        self._bytes = 0
        self.count: int = 0
        """The number of lines recorded so far, including those dropped since."""

    def add(self, kind: Kind, line: bytes) -> None:
        line = line.rstrip(b"\r\n")
        kept = line if len(line) <= MAX_LINE_BYTES else line[:MAX_LINE_BYTES]
        logged = LogEntry(time.time(), kind, kept, len(line))
        self._lines.append(logged)
        self.count += 1
        self._bytes += logged.weight
        while self._bytes > self._most and len(self._lines) > 1:
            self._bytes -= self._lines.popleft().weight

    def record(self, direction: Literal["in", "out"], lines: bytes) -> None:
        """Record one or several lines that were sent or received."""
        end = lines.find(b"\n")
        if end < 0 or end == len(lines) - 1:
            self.add(direction, lines)
            return
        for line in lines.splitlines():
            self.add(direction, line)

    def record_unknown(self, kind: str, update: dict[str, Any]) -> None:
        """Record an unknown update a second time, as a separate line, so that it can be found."""
        import msgspec

        self.add("unknown", msgspec.json.encode({"sessionUpdate": kind, **update}, enc_hook=repr))

    def since(self, count: int) -> Iterator[LogEntry]:
        """Iterate over the lines after the first `count`, as far as they are kept."""
        return islice(list(self._lines), max(len(self._lines) - (self.count - count), 0), None)

    def __len__(self) -> int:
        return len(self._lines)


class LogQuery(NamedTuple):
    """A filter for the log. A line must contain all words and no `-word`; `method:word` and `-method:word` match the
    method."""

    kinds: tuple[Kind, ...] | None = None
    words: tuple[bytes, ...] = ()
    unwanted: tuple[bytes, ...] = ()
    methods: tuple[str, ...] = ()
    unwanted_methods: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, kinds: tuple[Kind, ...] | None) -> LogQuery:
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


class LogRow(NamedTuple):
    """A line of the log, with the method it belongs to."""

    entry: LogEntry
    method: str = ""
    is_answer: bool = False
    is_stray: bool = False
    """Whether it is stray output: received, but not a protocol message."""


class LogFilter:
    """Applies a filter. Lines must come in order, because a response gets its method from the request before it."""

    def __init__(self, wanted: LogQuery) -> None:
        self._wanted = wanted
        self._methods: dict[tuple[str, bytes], str] = {}

    def apply(self, lines: Iterable[LogEntry]) -> Iterator[LogRow]:
        """Yield the lines that match."""
        for line in lines:
            row = self._identify(line)
            if self._matches(row):
                yield row

    def _identify(self, line: LogEntry) -> LogRow:
        """Find the method that a line belongs to."""
        if line.kind not in ("in", "out"):
            return LogRow(line)
        if not line.line[:_HEAD].lstrip().startswith((b"{", b"[")):
            return LogRow(line, is_stray=True)
        method = _METHOD.search(line.line, 0, _HEAD)
        id = _ID.search(line.line, 0, _HEAD)
        if method is not None:
            name = method[1].decode("utf-8", "replace")
            if name == "session/update" and (update := _UPDATE.search(line.line, 0, _HEAD)) is not None:
                name = f"{name} {update[1].decode('utf-8', 'replace')}"
            if id is not None:
                self._methods[line.kind, id[1]] = name
            return LogRow(line, name)
        other = "out" if line.kind == "in" else "in"
        return LogRow(line, self._methods.pop((other, id[1]), "") if id is not None else "", True)

    def _matches(self, row: LogRow) -> bool:
        wanted, line = self._wanted, row.entry
        if wanted.kinds is not None and line.kind not in wanted.kinds:
            return False
        method = row.method.lower()
        if any(word not in method for word in wanted.methods) or any(
            word in method for word in wanted.unwanted_methods
        ):
            return False
        if not wanted.words and not wanted.unwanted:
            return True
        text = line.line.lower()
        return all(word in text for word in wanted.words) and not any(word in text for word in wanted.unwanted)


def clock(line: LogEntry) -> str:
    """Format the time of a line, to the millisecond."""
    return datetime.fromtimestamp(line.at).strftime("%H:%M:%S.%f")[:-3]


def title(row: LogRow) -> str:
    """Return the title of a message: its method, or what it responds to."""
    if row.is_stray:
        return "stray output"
    if row.is_answer:
        return f"response to {sanitize(row.method)}" if row.method else "response"
    return sanitize(row.method) if row.method else WORDS[row.entry.kind]


def contents(row: LogRow, secrets: Iterable[str], most: int) -> str:
    """Return the start of a message's content, without what its title says."""
    line = row.entry
    if row.method or row.is_answer:
        summary = summarize(line.line)
        line = line._replace(line=summary, size=len(summary) if line.is_whole else line.size)
    return readable(line, secrets, most)


def readable(line: LogEntry, secrets: Iterable[str], most: int | None = None) -> str:
    """Return the text of a line, or the start of it, sanitized and without secrets."""
    part = line.line if most is None else line.line[:most]
    text = sanitize(without_secrets(part.decode("utf-8", "replace"), secrets, is_whole=len(part) == line.size))
    if line.size > len(part) + 100:
        text += f" … {format_size(line.size)} in all"
    return text


def pretty(line: LogEntry, secrets: Iterable[str]) -> str:
    """Format a message on several lines. Text that isn't complete JSON stays as it is."""
    import msgspec

    text = line.line
    if line.is_whole and line.kind in ("in", "out", "unknown"):
        with suppress(msgspec.MsgspecError):
            text = msgspec.json.format(text, indent=2)
    words = sanitize(without_secrets(text.decode("utf-8", "replace"), secrets, is_whole=line.is_whole))
    return words if line.is_whole else f"{words}\n… of {format_size(line.size)} only the start is kept"


def without_secrets(text: str, secrets: Iterable[str], *, is_whole: bool = True) -> str:
    """Mask everything that is or looks like a secret, except session ids and token counts.

    A text that isn't whole may end within a secret; the start of that secret is removed."""
    from accord.config.redaction import count_held, redact_values

    known = list(secrets)
    if not is_whole:
        text = text[: len(text) - count_held(text, known)]
    return redact_values(_NOT_SECRET.sub(rf'"\1{_BREAK}', text.replace(_BREAK, "")), known).replace(_BREAK, "")


def as_text(lines: Iterable[LogRow], secrets: Iterable[str]) -> str:
    """Format lines for a file."""
    known = list(secrets)
    return "".join(
        f"{datetime.fromtimestamp(each.entry.at).astimezone().isoformat(timespec='milliseconds')} "
        f"{MARKS[each.entry.kind]} {readable(each.entry, known)}\n"
        for each in lines
    )


_MAX_PARSED = 32 * 1024
"""Messages up to this size are parsed for a summary; of a longer one, only the start is shown."""
_SUMMARY_HEAD = 400
_CONTENTS = (b'"params":', b'"result":', b'"error":')
_UPDATE_KEY = b'"update":'


def summarize(line: bytes) -> bytes:
    """Return the parameters, result or error of a message; of an update, its fields without the kind."""
    if len(line) <= _MAX_PARSED:
        import msgspec

        with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            match msgspec.json.decode(line):
                case {"params": {"update": {"sessionUpdate": str(), **update}, **more}}:
                    return msgspec.json.encode(_simplify({**update, **more}))
                case {"params": body} | {"result": body} | {"error": body}:
                    return msgspec.json.encode(_simplify(body))
    head = line[:_SUMMARY_HEAD]
    marks = (_UPDATE_KEY,) if _UPDATE_KEY in head else _CONTENTS
    places = [at + len(mark) for mark in marks if (at := head.find(mark)) >= 0]
    return line[min(places) :] if places else line


def _simplify(value: Any) -> Any:
    """Replace text content by its text, and move fields that only identify something to the end."""
    match value:
        case {"type": "text", "text": str(text), **more} if not more:
            return text
        case dict():
            names = sorted(value, key=_is_identifier)
            return {name: _simplify(value[name]) for name in names}
        case list():
            return [_simplify(each) for each in value]
    return value


def _is_identifier(name: str) -> bool:
    """Return whether a field only identifies something, so that it can come last."""
    return name == "_meta" or name.endswith("Id")

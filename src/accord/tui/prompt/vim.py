"""Vim's normal mode for a text, without widgets: motions, operators, counts and one register."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

MAX_COUNT = 9999
REDO = "\x12"
"""The character of ctrl+r."""


class Buffer(Protocol):
    """The text that the keys edit. Positions count characters from the start of the text."""

    @property
    def text(self) -> str: ...

    position: int

    def replace(self, start: int, end: int, text: str) -> None: ...

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """Extend a part of the text so that it doesn't split what can only be deleted as a whole."""
        ...

    def undo(self) -> None: ...

    def redo(self) -> None: ...


class _Span(NamedTuple):
    """The text that an operator applies to."""

    start: int
    end: int
    is_linewise: bool = False


class Vim:
    """The state of the Vim keys: the mode, the unfinished command, and the register."""

    def __init__(self, buffer: Buffer) -> None:
        self.is_normal: bool = False
        """Whether letters are commands. Otherwise they are text."""
        self.pending: str = ""
        """The keys of an unfinished command."""
        self._buffer = buffer
        self._register = ""
        self._is_linewise = False
        self._found: tuple[str, str] = "", ""
        """The last `f`, `F`, `t` or `T` and its character."""
        self._column = 0
        """The column that `j` and `k` return to."""
        self._placed = 0
        """Where the cursor was put last; it may have been moved by other means since."""

    def insert(self) -> None:
        """Enter insert mode at the cursor."""
        self.is_normal, self.pending = False, ""

    def leave_insert(self) -> None:
        """Enter normal mode. The cursor moves onto the last character typed."""
        self.is_normal, self.pending = True, ""
        at = self._buffer.position
        self._move(max(at - 1, self._line_start(at)))

    def forget(self) -> None:
        """Discard an unfinished command."""
        self.pending = ""

    def press(self, key: str) -> None:
        """Handle a character in normal mode. Unknown commands do nothing."""
        typed = self.pending + key
        self.pending = ""
        at = self._buffer.position
        if at != self._placed:
            self._column = at - self._line_start(at)
        first, operator, second, rest = _split(typed)
        if _is_partial(operator, rest):
            self.pending = typed
            return
        count = min(int(first or 1) * int(second or 1), MAX_COUNT)
        has_count = bool(first or second)
        if operator:
            span = self._span(operator, rest, count, has_count)
            if span is not None:
                self._operate(operator, span)
        elif not self._run(rest, count):
            target = self._target(rest, count, has_count)
            if target is not None:
                self._move(target[0], keeps_column=rest in ("j", "k"))

    # -- commands

    def _run(self, key: str, count: int) -> bool:
        """Run a command that isn't a motion. Return whether there is one."""
        at, end = self._buffer.position, self._line_end(self._buffer.position)
        commands: dict[str, Callable[[], None]] = {
            "i": self.insert,
            "a": lambda: self._insert_at(min(at + 1, end)),
            "I": lambda: self._insert_at(self._first_nonblank(at)),
            "A": lambda: self._insert_at(end),
            "o": lambda: self._open_line(end, "\n", end + 1),
            "O": lambda: self._open_line(self._line_start(at), "\n", self._line_start(at)),
            "x": lambda: self._operate("d", _Span(at, min(at + count, end))),
            "X": lambda: self._operate("d", _Span(max(at - count, self._line_start(at)), at)),
            "s": lambda: self._operate("c", _Span(at, min(at + count, end))),
            "S": lambda: self._operate("c", self._lines(at, count)),
            "D": lambda: self._operate("d", _Span(at, end)),
            "C": lambda: self._operate("c", _Span(at, end)),
            "Y": lambda: self._operate("y", self._lines(at, count)),
            "p": lambda: self._put(count, after=True),
            "P": lambda: self._put(count, after=False),
            "u": lambda: self._repeat(self._buffer.undo, count),
            REDO: lambda: self._repeat(self._buffer.redo, count),
        }
        if key.startswith("r") and len(key) == 2:
            if at + count <= end and self._buffer.widen(at, at + count) == (at, at + count):
                self._buffer.replace(at, at + count, key[1] * count)
                self._move(at + count - 1)
            return True
        if key not in commands:
            return False
        commands[key]()
        return True

    def _repeat(self, act: Callable[[], None], count: int) -> None:
        for _ in range(min(count, 100)):
            act()
        self._move(self._buffer.position)

    def _insert_at(self, position: int) -> None:
        self._buffer.position = position
        self.insert()

    def _open_line(self, at: int, text: str, position: int) -> None:
        self._buffer.replace(at, at, text)
        self._insert_at(position)

    def _put(self, count: int, *, after: bool) -> None:
        """Insert the register at the cursor, or after it; whole lines above or below the line."""
        at, end = self._buffer.position, self._line_end(self._buffer.position)
        text = self._register * min(count, 100)
        if not text:
            return
        if not self._is_linewise:
            start = min(at + 1, end) if after else at
            self._buffer.replace(start, start, text)
            self._move(start + len(text) - 1)
        elif after:
            self._buffer.replace(end, end, "\n" + text.removesuffix("\n"))
            self._move(self._first_nonblank(end + 1))
        else:
            start = self._line_start(at)
            self._buffer.replace(start, start, text)
            self._move(self._first_nonblank(start))

    def _operate(self, operator: str, span: _Span) -> None:
        """Delete, change or yank a part of the text."""
        text = self._buffer.text
        start, end = self._buffer.widen(span.start, min(span.end, len(text)))
        taken, is_linewise = text[start:end], span.is_linewise
        if taken or is_linewise:
            self._register = taken.removesuffix("\n") + "\n" if is_linewise else taken
            self._is_linewise = is_linewise
        if operator == "y":
            self._move(start if not is_linewise else min(start + self._column, self._line_end(start)))
            return
        if operator == "c":
            if is_linewise and taken.endswith("\n"):
                end -= 1  # an empty line stays
            self._buffer.replace(start, end, "")
            self._insert_at(start)
            return
        if is_linewise and end == len(text) and start and not taken.endswith("\n"):
            start -= 1  # the last line: the break before it goes too
        self._buffer.replace(start, end, "")
        self._move(self._first_nonblank(start) if is_linewise else start)

    # -- text that an operator applies to

    def _span(self, operator: str, motion: str, count: int, has_count: bool) -> _Span | None:
        at = self._buffer.position
        if motion == operator:
            return self._lines(at, count)
        if motion in ("iw", "aw"):
            return self._word_at(at, with_space=motion == "aw")
        text = self._buffer.text
        if operator == "c" and motion in ("w", "W") and at < len(text) and not text[at].isspace():
            return _Span(at, self._word_end(at, count, big=motion == "W", stays=True) + 1)
        target = self._target(motion, count, has_count, is_for_operator=True)
        if target is None:
            return None
        to, includes_last = target
        first, last = sorted((at, to))
        if motion in ("j", "k", "gg", "G"):
            breaks = text.count("\n", first, last)
            return self._lines(first, breaks + 1) if breaks or motion in ("gg", "G") else None
        if motion in ("w", "W"):
            # The last word of a line ends with the line.
            word = text[at:to].rstrip()
            line_break = text.find("\n", at + len(word), to)
            last = line_break if line_break >= 0 else last
        return _Span(first, last + 1 if includes_last else last)

    def _lines(self, at: int, count: int) -> _Span:
        """Return some lines from the one at a position, with the break after them."""
        text, start = self._buffer.text, self._line_start(at)
        end = start
        for _ in range(count):
            end = self._line_end(end) + 1
            if end > len(text):
                break
        return _Span(start, min(end, len(text)), is_linewise=True)

    def _word_at(self, at: int, *, with_space: bool) -> _Span:
        """Return the word at the cursor, perhaps with the space after it."""
        text, low, high = self._buffer.text, self._line_start(at), self._line_end(at)
        if at >= high:
            return _Span(at, at)
        kind = _kind(text[at])
        start = end = at
        while start > low and _kind(text[start - 1]) == kind:
            start -= 1
        while end < high and _kind(text[end]) == kind:
            end += 1
        while with_space and end < high and text[end].isspace():
            end += 1
        return _Span(start, end)

    # -- motions

    def _target(
        self, motion: str, count: int, has_count: bool, *, is_for_operator: bool = False
    ) -> tuple[int, bool] | None:
        """Return where a motion leads, and whether an operator includes the character there. None if it fails."""
        at, text = self._buffer.position, self._buffer.text
        start, end = self._line_start(at), self._line_end(at)
        if motion[0] in "fFtT;,":
            return self._find(motion, count)
        match motion:
            case "h":
                return max(at - count, start), False
            case "l" | " ":
                return min(at + count, end), False
            case "j" | "k":
                return self._vertical(at, count if motion == "j" else -count), False
            case "0":
                return start, False
            case "^":
                return self._first_nonblank(at), False
            case "$":
                last = self._line_end(self._vertical(at, count - 1))
                return (last, False) if is_for_operator else (max(last - 1, start), False)
            case "w" | "W":
                for _ in range(count):
                    at = _next_word(text, at, big=motion == "W")
                return at, False
            case "b" | "B":
                for _ in range(count):
                    at = _previous_word(text, at, big=motion == "B")
                return at, False
            case "e" | "E":
                return self._word_end(at, count, big=motion == "E"), True
            case "gg" | "G":
                lines = text.split("\n")
                number = count if has_count else 1 if motion == "gg" else len(lines)
                first = sum(len(line) + 1 for line in lines[: min(number, len(lines)) - 1])
                return self._first_nonblank(first), False
        return None

    def _word_end(self, at: int, count: int, *, big: bool = False, stays: bool = False) -> int:
        """Return the end of a word. With `stays`, the end of the word at the cursor counts, as for `cw`."""
        text = self._buffer.text
        for number in range(count):
            if not (stays and number == 0):
                at += 1
            while at < len(text) and text[at].isspace():
                at += 1
            while at + 1 < len(text) and _kind(text[at + 1], big=big) == _kind(text[at], big=big):
                at += 1
        return min(at, max(len(text) - 1, 0))

    def _vertical(self, at: int, lines: int) -> int:
        """Return the position some lines below or above, in the column where the cursor was."""
        for _ in range(abs(lines)):
            start, end = self._line_start(at), self._line_end(at)
            if lines > 0:
                if end >= len(self._buffer.text):
                    break
                at = end + 1
            else:
                if not start:
                    break
                at = self._line_start(start - 1)
        start, end = self._line_start(at), self._line_end(at)
        return min(start + self._column, max(end - 1, start))

    def _find(self, motion: str, count: int) -> tuple[int, bool] | None:
        """Find a character in the line. `;` repeats the last search, `,` in the other direction."""
        is_repeat = motion in (";", ",")
        if is_repeat:
            kind, character = self._found
            kind = kind.swapcase() if motion == "," else kind
        else:
            kind, character = motion[0], motion[1:]
            self._found = kind, character
        if not character:
            return None
        at, text = self._buffer.position, self._buffer.text
        start, end = self._line_start(at), self._line_end(at)
        step = 1 if kind in "ft" else -1
        place = at + step if is_repeat and kind in "tT" else at  # otherwise it would find the same one
        for _ in range(count):
            found = (
                text.find(character, place + 1, end) if step > 0 else text.rfind(character, start, max(place, start))
            )
            if found < 0:
                return None
            place = found
        return (place if kind in "fF" else place - step), step > 0

    # -- lines and the cursor

    def _line_start(self, at: int) -> int:
        return self._buffer.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        """Return the position of the line break after a position, or the end of the text."""
        end = self._buffer.text.find("\n", at)
        return end if end >= 0 else len(self._buffer.text)

    def _first_nonblank(self, at: int) -> int:
        start, end = self._line_start(at), self._line_end(at)
        line = self._buffer.text[start:end]
        return min(start + len(line) - len(line.lstrip()), max(end - 1, start))

    def _move(self, to: int, *, keeps_column: bool = False) -> None:
        """Move the cursor; in normal mode it stays on a character of the line."""
        to = max(0, min(to, len(self._buffer.text)))
        start, end = self._line_start(to), self._line_end(to)
        to = min(to, max(end - 1, start))
        self._buffer.position = self._placed = to
        if not keeps_column:
            self._column = to - start


def _is_partial(operator: str, rest: str) -> bool:
    """Return whether more keys belong to a command."""
    return rest in ("", "g", "f", "F", "t", "T") or rest in (("i", "a") if operator else ("r",))


def _split(typed: str) -> tuple[str, str, str, str]:
    """Split a command into a count, an operator, another count, and the motion or command."""
    first, typed = _take_count(typed)
    operator = second = ""
    if typed[:1] in ("d", "c", "y"):
        operator = typed[0]
        second, typed = _take_count(typed[1:])
    return first, operator, second, typed


def _take_count(typed: str) -> tuple[str, str]:
    size = 0
    while size < len(typed) and typed[size] in "0123456789" and (size or typed[size] != "0"):
        size += 1
    return typed[: min(size, 4)], typed[size:]


def _kind(character: str, *, big: bool = False) -> int:
    """Return what a character is to word motions: a space, part of a word, or punctuation."""
    if character.isspace():
        return 0
    return 1 if big or character.isalnum() or character == "_" else 2


def _next_word(text: str, at: int, *, big: bool) -> int:
    """Return the start of the next word. An empty line counts as one."""
    if at >= len(text):
        return at
    kind = _kind(text[at], big=big)
    while at < len(text) and kind and _kind(text[at], big=big) == kind:
        at += 1
    while at < len(text) and text[at].isspace():
        if text[at] == "\n" and text[at + 1 : at + 2] == "\n":
            return at + 1
        at += 1
    return at


def _previous_word(text: str, at: int, *, big: bool) -> int:
    at = min(at, len(text))
    while at > 0 and text[at - 1].isspace():
        at -= 1
        if text[at] == "\n" and text[at - 1 : at] == "\n":
            return at
    if at > 0:
        kind = _kind(text[at - 1], big=big)
        while at > 0 and _kind(text[at - 1], big=big) == kind:
            at -= 1
    return at

"""Replace a passage of a text: exactly as given, or by whole lines that differ only in ways models get wrong.

An exact occurrence always wins. Otherwise the passage may match whole lines that differ in trailing whitespace, then in
indentation, then in spacing, typographic characters and Unicode normalization. Line numbers pasted from a listing,
escaped newlines and HTML entities are undone. Such a match must be unique, its replacement is indented like the lines
it replaces, and the result says what was adjusted. Everything takes linear time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from accord.coder.tools.base import ToolError
from accord.coder.tools.edits.indentation import Indentation, indent_of
from accord.coder.tools.edits.lines import find_lines, simplify
from accord.coder.tools.edits.nearest import describe_nearest
from accord.coder.tools.text import cut

MAX_NAMED_LINES = 12
"""The most line numbers an error message lists."""
MAX_SHOWN_LINES = 40
"""The most lines an error message quotes."""


class Replaced(NamedTuple):
    """A text after a replacement."""

    text: str
    lines: list[int]
    """The first line of each replacement, in the new text."""
    adjusted: str = ""
    """How the passage differed from the text, as a sentence; empty if it was found exactly."""


def replace(text: str, old: str, new: str, *, every: bool = False) -> Replaced:
    """Replace the only occurrence of a passage, or every one. Raises `ToolError` if it isn't there, or not once."""
    if not old:
        raise ToolError("the old text is empty; give a passage, or use write_file to write the whole file")
    if old == new:
        raise ToolError("the old and the new text are the same")
    exact = replace_exact(text, old, new, every=every)
    if exact is not None:
        return exact
    for form in _forms(old, new):
        if form.undone:
            found = replace_exact(text, form.old, form.new)
            if found is not None:
                return found._replace(adjusted=f"{form.undone} in the old and the new text.")
        tolerant = _replace_lines(text, form)
        if tolerant is not None:
            return tolerant
    raise ToolError(f"{quote(old)} was not found. {describe_nearest(text, old, new)}")


# -- exact


def replace_exact(text: str, old: str, new: str, *, every: bool = False) -> Replaced | None:
    """Replace an exact occurrence; None if there is none. Plain line feeds in `old` also match CRLF."""
    flat = _Flat(text, "\r" not in old)
    starts = list(flat.find(old, overlapping=not every, most=None if every else MAX_NAMED_LINES + 1))
    if not starts:
        return None
    if len(starts) > 1 and not every:
        count = max(flat.text.count(old), len(starts))
        places = _list_lines(flat.text, starts)
        raise ToolError(
            f"{quote(old)} occurs {count:,} times, at {places}; add neighboring lines until it occurs once, "
            "or replace all of them"
        )
    pieces: list[str] = []
    lines: list[int] = []
    done, line = 0, 1
    for start in starts:
        begin, end = flat.original(start), flat.original(start + len(old))
        before, found = text[done:begin], text[begin:end]
        # The line endings of what is replaced, or of the file if that is a single line.
        literal = "\r" in old or "\r" in new
        put = new if literal else match_line_endings(new, found if "\n" in found else text)
        pieces += [before, put]
        line += before.count("\n")
        lines.append(line)
        line += put.count("\n")
        done = end
    return Replaced("".join(pieces) + text[done:], lines)


class _Flat:
    """A text with plain line feeds, whose positions lead back to the original."""

    def __init__(self, text: str, is_flat: bool = True) -> None:
        self._ends: list[int] = []
        self.text = text
        if is_flat and "\r\n" in text:
            self._ends = [match.start() - index for index, match in enumerate(re.finditer("\r\n", text))]
            self.text = text.replace("\r\n", "\n")

    def original(self, position: int) -> int:
        return position + bisect_left(self._ends, position)

    def find(self, old: str, *, overlapping: bool, most: int | None) -> Iterator[int]:
        position = self.text.find(old)
        found = 0
        while position >= 0 and (most is None or found < most):
            yield position
            found += 1
            position = self.text.find(old, position + (1 if overlapping else len(old)))


def match_line_endings(new: str, old: str) -> str:
    """Convert line feeds to CRLF if most lines of `old` end with it."""
    ends = old.count("\r\n")
    if "\r" in new or not ends or ends * 2 <= old.count("\n"):
        return new
    return new.replace("\n", "\r\n")


# -- forms: what the model may have meant


class _Form(NamedTuple):
    """A passage and its replacement, with mistakes of transcription undone."""

    old: str
    new: str
    undone: str = ""


_NUMBERED = re.compile(r"[ \t]*(\d{1,7})(?:\t|→|[ \t]*\|[ \t]?|:[ \t]?)(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\([nrt\"'\\])")
_ENTITY = re.compile(r"&(lt|gt|amp|quot|apos|nbsp|#39|#34|#x27|#x22);")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "nbsp": " ", "apos": "'", "#39": "'", "#x27": "'"}


def _strip_numbers(text: str) -> str:
    """Remove consecutive line numbers from the start of every line; the text unchanged if a line has none."""
    lines = text.split("\n")
    last = len(lines) - 1
    stripped: list[str] = []
    before: int | None = None
    for index, line in enumerate(lines):
        match = _NUMBERED.fullmatch(line)
        if match is None:
            if line.strip() or index != last:
                return text
            stripped.append(line)
            continue
        number = int(match[1])
        if before is not None and number != before + 1:
            return text
        before = number
        stripped.append(match[2])
    return "\n".join(stripped)


def _unescape(text: str) -> str:
    """Undo a second level of escaping; the text unchanged if it has real line feeds."""
    return text if "\n" in text else _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES.get(match[1], '"'), text)


_REPAIRS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Removed pasted line numbers", _strip_numbers),
    ("Decoded escaped newlines", _unescape),
    ("Decoded HTML entities", _decode_entities),
)


def _forms(old: str, new: str) -> Iterator[_Form]:
    """Yield the passage as given, with each mistake undone, and without blank lines around it."""
    forms = [_Form(old, new)]
    for words, repair in _REPAIRS:
        repaired = repair(old)
        if repaired not in ("", old):
            forms.append(_Form(repaired, repair(new), words))
    yield from forms
    for form in forms:
        trimmed = form.old.strip("\n")
        if trimmed not in ("", form.old):
            lead = len(form.old) - len(form.old.lstrip("\n"))
            trail = len(form.old) - len(form.old.rstrip("\n"))
            undone = form.undone or "Ignored blank lines around the passage"
            yield _Form(trimmed, _trim(form.new, lead, trail), undone)


def _trim(text: str, lead: int, trail: int) -> str:
    """Remove up to that many line feeds from the start and the end."""
    start = min(lead, len(text) - len(text.lstrip("\n")))
    text = text[start:]
    end = min(trail, len(text) - len(text.rstrip("\n")))
    return text[: len(text) - end]


# -- whole lines


LEVELS: tuple[Callable[[str], str], ...] = (str.rstrip, str.strip, simplify)
"""Ways to compare lines, the strictest first."""


def _replace_lines(text: str, form: _Form) -> Replaced | None:
    """Replace the only lines that match the passage loosely; None if there are none."""
    wanted = form.old.replace("\r\n", "\n").split("\n")
    has_end = len(wanted) > 1 and not wanted[-1]
    if has_end:
        wanted.pop()
    if not any(line.strip() for line in wanted):
        return None
    lines = text.split("\n")
    for level in LEVELS:
        keys = [level(line) for line in wanted]
        if not any(keys):
            return None
        starts = find_lines([level(line) for line in lines], keys, most=MAX_NAMED_LINES + 1)
        if len(starts) > 1:
            places = ", ".join(str(start + 1) for start in starts[:MAX_NAMED_LINES])
            more = " and others" if len(starts) > MAX_NAMED_LINES else ""
            raise ToolError(
                f"{quote(form.old)} occurs nowhere exactly, and ignoring whitespace it occurs more than "
                f"once, at lines {places}{more}; copy it exactly, with neighboring lines until it occurs once"
            )
        if starts:
            return _put(lines, starts[0], wanted, has_end, form)
    return None


def replace_at(lines: Sequence[str], start: int, old: Sequence[str], new: Sequence[str]) -> Replaced:
    """Replace the lines from `start`, which match `old` loosely. The new lines are indented like them."""
    form = _Form("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    return _put(list(lines), start, old, True, form)


def _put(lines: list[str], start: int, wanted: Sequence[str], has_end: bool, form: _Form) -> Replaced:
    """Replace whole lines by the new text, indented like them. Lines that the edit keeps stay as they are."""
    end = start + len(wanted)
    there = [line.removesuffix("\r") for line in lines[start:end]]
    returns = sum(line.endswith("\r") for line in lines[start:end])
    put = form.new.replace("\r\n", "\n").split("\n")
    removes = not form.new and has_end
    if has_end and not put[-1]:
        put.pop()
    fitted = [] if removes else _fit(put, wanted, there, start)
    if end == len(lines) > 1:  # the last line of a text has no line end; the one before it has
        returns += lines[-2].endswith("\r")
    ended = [line + "\r" if returns * 2 > len(wanted) else line for line in fitted]
    if ended:  # the last line keeps its own line end, because the next line isn't replaced
        ended[-1] = fitted[-1] + "\r" * lines[end - 1].endswith("\r")
    result = "\n".join([*lines[:start], *ended, *lines[end:]])
    return Replaced(result, [start + 1], _explain(start, wanted, there, form))


def _fit(put: Sequence[str], wanted: Sequence[str], there: Sequence[str], start: int) -> list[str]:
    """Return the new lines: as they are in the file if the edit doesn't change them, else indented to fit."""
    shorter = min(len(put), len(wanted))
    head = 0
    while head < shorter and put[head] == wanted[head]:
        head += 1
    tail = 0
    while tail < shorter - head and put[-1 - tail] == wanted[-1 - tail]:
        tail += 1
    known: dict[str, str | None] = {}
    for ours, theirs in zip(wanted, there, strict=True):
        known[ours] = theirs if known.get(ours, theirs) == theirs else None
    indentation = Indentation(wanted, there)
    rest = Indentation(wanted[1:], there[1:])
    fitted = list(there[:head])
    for index, line in enumerate(put[head : len(put) - tail], head):
        kept = known.get(line)
        if kept is not None:
            fitted.append(kept)
        elif index == 0 and indent_of(line) == indent_of(wanted[0]):
            fitted.append(indent_of(there[0]) + line.lstrip())
        elif rest.is_same:  # only the first line lost its indentation, as if the passage had been stripped
            fitted.append(line)
        elif indentation.is_consistent or not line.strip():
            fitted.append(indentation.fit(line))
        else:
            raise ToolError(
                f"the old text matches lines {start + 1} to {start + len(wanted)} only if indentation is ignored, and "
                "the indentation of the new text can't be derived from it; copy these lines exactly:\n"
                + "\n".join(there[:MAX_SHOWN_LINES])
            )
    return fitted + list(there[len(there) - tail :])


def _explain(start: int, wanted: Sequence[str], there: Sequence[str], form: _Form) -> str:
    """Describe how the passage differed from the lines it matched."""
    indented = typed = trailing = False
    for ours, theirs in zip(wanted, there, strict=True):
        if ours == theirs:
            continue
        trailing |= ours.rstrip() == theirs.rstrip()
        indented |= bool(theirs.strip()) and indent_of(ours) != indent_of(theirs)
        typed |= ours.strip() != theirs.strip()
    differences = [
        words
        for differs, words in (
            (indented, "indentation"),
            (typed, "spacing or special characters"),
            (trailing, "trailing whitespace"),
        )
        if differs
    ]
    where = f"line {start + 1}" if len(wanted) == 1 else f"lines {start + 1} to {start + len(wanted)}"
    undone = f"{form.undone} in the old and the new text. " if form.undone else ""
    if not differences:
        return undone.strip()
    fitted = "; the new text was indented to match" if indented else ""
    return f"{undone}The old text differs from {where} of the file in {' and '.join(differences)}{fitted}."


# -- error messages


def _list_lines(text: str, starts: Sequence[int]) -> str:
    numbers: list[int] = []
    done, line = 0, 1
    for start in starts[:MAX_NAMED_LINES]:
        line += text.count("\n", done, start)
        done = start
        numbers.append(line)
    more = " and more" if len(starts) > MAX_NAMED_LINES else ""
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}{more}"


def quote(text: str) -> str:
    """Quote the first line of a passage."""
    first, *rest = text.strip("\n").split("\n")
    return repr(cut(first, 80) + ("…" if rest or len(first) > 80 else ""))

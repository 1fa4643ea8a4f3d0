"""Patches in the V4A format, which GPT models are trained on: parse one, and apply its hunks to a text.

    *** Begin Patch
    *** Update File: src/app.py
    @@ class App:
         def run(self):
    -        return None
    +        return 0
    *** Add File: src/new.py
    +LIMIT = 10
    *** Delete File: src/old.py
    *** End Patch

A hunk has no line numbers. It applies where its context and removed lines are, after its `@@` lines. As in
`passage.py`, they match exactly or as whole lines that differ only in whitespace and typographic characters. Without
`@@` lines, the place must be the only one. Deviations that models are known for are accepted: missing markers, a shell
command or a code fence around the patch, headers of unified diffs, and blank lines without a leading space."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from accord.coder.models.families import family
from accord.coder.tools.base import ToolError
from accord.coder.tools.edits.lines import find_lines
from accord.coder.tools.edits.nearest import describe_nearest
from accord.coder.tools.edits.passage import LEVELS, MAX_NAMED_LINES, quote, replace_at
from accord.coder.tools.text import cut

MAX_HUNKS = 1_000
_OLDER_MODEL = re.compile(r"(^|[./:])(gpt-(3|4o|4-|4$|4:)|chatgpt)")
"""GPT models from before they were trained on patches."""
_HEADER = re.compile(r"\*\*\* (Add|Create|Update|Modify|Edit|Delete|Remove) File: *(.+?) *", re.IGNORECASE)
_MOVE = re.compile(r"\*\*\* (?:Move|Rename)(?: File)? to: *(.+?) *", re.IGNORECASE)
_BEGIN = re.compile(r"\*{3} Begin Patch\b.*", re.IGNORECASE)
_END = re.compile(r"\*{3} End(?: of)? Patch\b.*", re.IGNORECASE)
_END_OF_FILE = re.compile(r"\*{3} End of File\b.*", re.IGNORECASE)
_GIT = re.compile(r"diff --git |index [0-9a-f]+\.\.|(new|deleted) file mode |(old|new) mode |similarity index ")
_RANGE = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@)?")
_WRAPPING = re.compile(r"```\w*|['\"]?[A-Z]*(?:EOF|PATCH)['\"]?")
_COMMAND = re.compile(
    r"\s*(?:cd +(?P<directory>'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|'\"]+) *&& *)?apply_?patch\s*"
    r"(?:<<-? *(?P<mark>['\"]?)(?P<tag>\w+)(?P=mark) *\n(?P<document>.*)\n(?P=tag)|"
    r"(?P<quote>['\"])(?P<word>.*)(?P=quote))\s*",
    re.DOTALL,
)
Operation = Literal["add", "update", "delete"]
_OPERATIONS: dict[str, Operation] = {"add": "add", "create": "add", "delete": "delete", "remove": "delete"}


ALL_LEVELS: tuple[Callable[[str], str], ...] = (str, *LEVELS)
"""Ways to compare lines: exactly, then more and more tolerantly."""


class Hunk(NamedTuple):
    """A change at one place of a file."""

    anchors: tuple[str, ...]
    """The lines that come somewhere before it, from outer to inner: `class App:`, `def run(self):`."""
    lines: tuple[tuple[str, str], ...]
    """Each line with its sign: a space for context, `-` for a removed line, `+` for an added one."""
    is_at_end: bool
    """Whether it is at the end of the file."""

    @property
    def old(self) -> list[str]:
        return [line for sign, line in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        return [line for sign, line in self.lines if sign != "-"]


class FilePatch(NamedTuple):
    """The part of a patch for one file."""

    operation: Operation
    path: str
    destination: str | None = None
    """The new path of a file that is moved."""
    content: str = ""
    """The text of a new file."""
    hunks: tuple[Hunk, ...] = ()


class Patched(NamedTuple):
    """A text after its hunks were applied."""

    text: str
    lines: list[int]
    """The first line of each hunk in the new text."""
    adjusted: str
    """How the hunks differed from the text; empty if they matched exactly."""


def prefers_patches(model: str) -> bool:
    """Return whether a model, by its id, was trained to edit files with patches."""
    return family(model) == "gpt" and _OLDER_MODEL.search(model.lower()) is None


# -- shell commands


class PatchCommand(NamedTuple):
    """A patch that was sent as a shell command."""

    patch: str
    directory: str | None


def read_command(command: object) -> PatchCommand | None:
    """Return the patch of a command line that only applies one, as GPT models write it; None for any other."""
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        if len(command) == 2 and re.fullmatch(r"apply_?patch", command[0]):
            return PatchCommand(command[1], None)
        command = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else None
    match = _COMMAND.fullmatch(command) if isinstance(command, str) else None
    if match is None:
        return None
    document = match["document"]
    if document is not None and f"\n{match['tag']}\n" in f"{document}\n":
        return None  # other commands follow
    patch = document if document is not None else match["word"]
    directory = match["directory"]
    return PatchCommand(patch, directory.strip("'\"") if directory else None)


# -- parsing


def parse_patch(text: str) -> list[FilePatch]:
    """Parse a patch. Raises `ToolError` with what is wrong and how to write it."""
    files: list[FilePatch] = []
    for operation, path, body in _sections(_unwrap(text)):
        if operation == "add":
            files.append(FilePatch("add", path, content=_content(body)))
        elif operation == "delete":
            files.append(FilePatch("delete", path))
        else:
            _add_update(files, _parse_update(path, body))
    if not files:
        raise ToolError(
            "the patch changes no file; it needs a line such as *** Update File: PATH, *** Add File: PATH or "
            "*** Delete File: PATH"
        )
    if sum(len(file.hunks) for file in files) > MAX_HUNKS:
        raise ToolError(f"the patch has more than {MAX_HUNKS:,} hunks; split it")
    return files


def _unwrap(text: str) -> list[str]:
    """Return the lines between the markers; either may be missing."""
    if "\n" not in text.strip():  # its line feeds were escaped twice
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    lines = text.replace("\r\n", "\n").split("\n")
    begin = next((index for index, line in enumerate(lines) if _BEGIN.fullmatch(line.strip())), None)
    if begin is None:
        starts = (index for index, line in enumerate(lines) if _HEADER.fullmatch(line) or _is_unified(lines, index))
        begin = next(starts, 0) - 1
    lines = lines[begin + 1 :]
    end = next((index for index in range(len(lines) - 1, -1, -1) if _END.fullmatch(lines[index].strip())), None)
    if end is not None:
        return lines[:end]
    while lines and (not lines[-1].strip() or _WRAPPING.fullmatch(lines[-1].strip())):
        lines.pop()
    return lines


def is_patch(text: object) -> bool:
    """Return whether a text is a patch, in either format."""
    lines = text.strip().split("\n") if isinstance(text, str) else []
    is_hunk = any(line.startswith("@@") for line in lines) and any(line.startswith(("-", "+")) for line in lines)
    return is_hunk or any(_HEADER.fullmatch(line) for line in lines)


def _is_unified(lines: Sequence[str], index: int) -> bool:
    """Return whether the two header lines of a file in a unified diff are here."""
    return lines[index].startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ ")


def _sections(lines: Sequence[str]) -> list[tuple[Operation, str, list[str]]]:
    """Return the parts of a patch, one for each header of a file."""
    sections: list[tuple[Operation, str, list[str]]] = []
    is_unified = not any(_HEADER.fullmatch(line) for line in lines)
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if is_unified and _GIT.match(line):
            continue
        if header := _HEADER.fullmatch(line):
            sections.append((_OPERATIONS.get(header[1].lower(), "update"), header[2], []))
        elif is_unified and _is_unified(lines, index - 1):
            old, new = (_unified_path(each) for each in (line, lines[index]))
            index += 1
            operation: Operation = "add" if old is None else "delete" if new is None else "update"
            sections.append((operation, new or old or "", []))
        elif sections:
            sections[-1][2].append(line)
        elif line.strip():
            raise ToolError(
                f"the patch starts with {cut(line, 80)!r}; expected *** Update File: PATH, or another header"
            )
    return sections


def _unified_path(header: str) -> str | None:
    """Return the path in a header of a unified diff; None for /dev/null."""
    path = header[4:].partition("\t")[0].strip()
    return None if path == "/dev/null" else re.sub(r"\A[ab]/", "", path)


def _content(body: list[str]) -> str:
    """Return the text of a new file: the lines with a plus, or all of them if none has one."""
    while body and not body[-1].strip():
        body.pop()
    if body and _END_OF_FILE.fullmatch(body[-1]):
        body.pop()
    body = [line for line in body if not line.startswith(("@@ -0,0 ", "\\ No newline"))]
    if not any(line.startswith("+") for line in body):
        return "".join(f"{line}\n" for line in body)
    return "".join(f"{line.removeprefix('+')}\n" for line in body)


def _parse_update(path: str, body: list[str]) -> FilePatch:
    destination: str | None = None
    hunks: list[Hunk] = []
    anchors: list[str] = []
    lines: list[tuple[str, str]] = []

    def close(*, is_at_end: bool = False) -> None:
        if lines:
            hunks.append(Hunk(tuple(anchors), tuple(lines), is_at_end))
            anchors.clear()
            lines.clear()

    if len(body) > 1 and _is_unified(body, 0):
        body = body[2:]
    for line in body:
        if (move := _MOVE.fullmatch(line)) and not hunks and not lines:
            destination = move[1]
        elif _END_OF_FILE.fullmatch(line):
            close(is_at_end=True)
        elif line.startswith("@@"):
            close()
            if anchor := _RANGE.sub("", line[2:].strip()).removesuffix("@@").strip():
                anchors.append(anchor)
        elif line.startswith(("+", "-", " ")):
            lines.append((line[0], line[1:]))
        elif not line.startswith("\\ No newline"):
            lines.append((" ", line))
    while lines and lines[-1] == (" ", ""):  # the blank lines before the next header
        lines.pop()
    close()
    if not hunks and destination is None:
        raise ToolError(f"the patch says nothing about {path}: lines to remove start with -, lines to add with +")
    return FilePatch("update", path, destination, hunks=tuple(hunks))


def _add_update(files: list[FilePatch], update: FilePatch) -> None:
    """Add an update. A second one of the same file continues the first."""
    for index, other in enumerate(files):
        if other.path == update.path and other.operation == "update" and not (other.destination and update.destination):
            destination = other.destination or update.destination
            files[index] = other._replace(destination=destination, hunks=(*other.hunks, *update.hunks))
            return
    files.append(update)


# -- applying


def apply_hunks(text: str, hunks: Sequence[Hunk], path: str) -> Patched:
    """Apply all hunks, in their order. Raises `ToolError` if one applies nowhere, or in several places."""
    starts: list[int] = []
    adjusted: list[str] = []
    after = 0
    for number, hunk in enumerate(hunks, 1):
        which = f"hunk {number} of {len(hunks)}" if len(hunks) > 1 else "the hunk"
        try:
            applied = _apply(text, hunk, after)
        except ToolError as error:
            raise ToolError(f"{path}: {which} can't be applied: {error}") from None
        text = applied.text
        starts.append(applied.start + 1)
        after = applied.start + len(hunk.new)
        if applied.adjusted:
            adjusted.append(
                f"{path}: {applied.adjusted}" if len(hunks) == 1 else f"{path}, {which}: {applied.adjusted}"
            )
    return Patched(text, starts, "\n".join(adjusted))


class _Applied(NamedTuple):
    text: str
    start: int
    adjusted: str


def _apply(text: str, hunk: Hunk, after: int) -> _Applied:
    """Apply a hunk. The one before it ended at line `after`."""
    lines = text.split("\n")
    flat = [line.removesuffix("\r") for line in lines]
    anchor, missing = _follow(flat, hunk.anchors, after)
    if not hunk.old:
        if missing is not None:
            raise ToolError(f"the line {missing!r} was not found; give some lines of context")
        start = anchor + 1 if anchor is not None else len(flat) - (not flat[-1])
        return _Applied(_put_exactly(lines, start, hunk), start, "")
    for trimmed in _trims(hunk):
        for level, simplify in enumerate(ALL_LEVELS):
            wanted = [simplify(line) for line in trimmed.old]
            if level and not any(wanted):
                break
            starts = find_lines([simplify(line) for line in flat], wanted, most=MAX_NAMED_LINES * 10)
            if not starts:
                continue
            start = _choose(starts, trimmed, len(flat) - (not flat[-1]), anchor, after)
            if level == 0:
                return _Applied(_put_exactly(lines, start, trimmed), start, "")
            replaced = replace_at(lines, start, trimmed.old, trimmed.new)
            return _Applied(replaced.text, start, replaced.adjusted)
    why = f" (its line {missing!r} isn't there either)" if missing is not None else ""
    old, new = "\n".join(hunk.old), "\n".join(hunk.new)
    raise ToolError(f"{quote(old)} was not found{why}. {describe_nearest(text, old, new)}")


def _trims(hunk: Hunk) -> list[Hunk]:
    """Return the hunk as it is, then without the blank lines around it, which may separate it from others."""
    lines = list(hunk.lines)
    while lines and lines[-1] == (" ", ""):
        lines.pop()
    while lines and lines[0] == (" ", ""):
        lines.pop(0)
    has_old = any(sign != "+" for sign, _ in lines)
    return [hunk, hunk._replace(lines=tuple(lines))] if has_old and len(lines) < len(hunk.lines) else [hunk]


def _follow(flat: Sequence[str], anchors: Sequence[str], after: int) -> tuple[int | None, str | None]:
    """Return the line of the innermost anchor, and the first anchor that isn't there."""
    place: int | None = None
    for anchor in anchors:
        start = after if place is None else place + 1
        found = _find_anchor(flat, anchor, start)
        if found is None and place is None:
            found = _find_anchor(flat, anchor, 0)
        if found is None:
            return place, anchor
        place = found
    return place, None


def _find_anchor(flat: Sequence[str], anchor: str, start: int) -> int | None:
    """Find the first line that is the anchor, else one that starts with it, else one that contains it."""
    for simplify in ALL_LEVELS:
        wanted = simplify(anchor)
        for index in range(start, len(flat)):
            if simplify(flat[index]) == wanted:
                return index
    wanted = anchor.strip()
    for index in range(start, len(flat)):
        if flat[index].strip().startswith(wanted):
            return index
    return next((index for index in range(start, len(flat)) if wanted in flat[index]), None)


def _choose(starts: Sequence[int], hunk: Hunk, end: int, anchor: int | None, after: int) -> int:
    """Return the line at which a hunk applies."""
    if hunk.is_at_end and (last := end - len(hunk.old)) in starts:
        return last
    if anchor is not None:
        following = [start for start in starts if start >= anchor]
        if following:
            return following[0]
    candidates = [start for start in starts if start >= after] or list(starts)
    if len(candidates) == 1:
        return candidates[0]
    places = ", ".join(str(start + 1) for start in candidates[:MAX_NAMED_LINES])
    more = " and others" if len(candidates) > MAX_NAMED_LINES else ""
    raise ToolError(
        f"{quote(chr(10).join(hunk.old))} is at several places, lines {places}{more}; add lines of context, or an @@ "
        "line with the class or function"
    )


def _put_exactly(lines: Sequence[str], start: int, hunk: Hunk) -> str:
    """Apply a hunk that matches exactly. Context lines stay as they are, new ones get the file's line end."""
    end = start + len(hunk.old)
    has_returns = sum(line.endswith("\r") for line in lines) * 2 > len(lines) - 1 > 0
    put: list[str] = []
    index = start
    for sign, line in hunk.lines:
        if sign == "+":
            put.append(line + "\r" if has_returns else line)
            continue
        if sign == " ":
            put.append(lines[index])
        index += 1
    if end == len(lines) and has_returns:  # only the last line has no line end
        if start and not lines[start - 1].endswith("\r"):
            put = [*lines[:start], *put]
            start = 0
        put = [*(line.removesuffix("\r") + "\r" for line in put[:-1]), *(line.removesuffix("\r") for line in put[-1:])]
    return "\n".join([*lines[:start], *put, *lines[end:]])

"""Writing the change of one text file the way git would, as the protocol wants it: absolute paths, no prefixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

CONTEXT = 3
MOST_COMPARISONS = 250_000
"""Finding the smallest patch takes old lines × new lines; past this, what differs is shown as one block."""


def git_patch(path: str, old: str | None, new: str | None) -> str:
    """The patch that turns `old` into `new`. `None` is a file that is not there; nothing changed is an empty patch."""
    if old == new:
        return ""
    name = _quoted(path)
    head = [f"diff --git {name} {name}"]
    if old is None:
        head.append("new file mode 100644")
    elif new is None:
        head.append("deleted file mode 100644")
    hunks = list(_hunks(_lines(old or ""), _lines(new or "")))
    if hunks:
        # git ends a name that holds a space with a tab, so that readers know where it stops
        end = "\t" if " " in name else ""
        head.append(f"--- {'/dev/null' if old is None else name + end}")
        head.append(f"+++ {'/dev/null' if new is None else name + end}")
    return "\n".join([*head, *hunks]) + "\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends a line; the last may go without."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for hunk in _grouped(_steps(old, new)):
        yield _range(hunk[0].old.start, hunk[-1].old.stop, hunk[0].new.start, hunk[-1].new.stop)
        for step in hunk:
            if step.same:
                yield from _marked(" ", old[step.old])
            else:
                yield from _marked("-", old[step.old])
                yield from _marked("+", new[step.new])


class _Step(NamedTuple):
    """Lines of the old file that became lines of the new one, unchanged or not."""

    same: bool
    old: slice
    new: slice

    def first(self, count: int) -> _Step:
        return _Step(
            self.same,
            slice(self.old.start, min(self.old.start + count, self.old.stop)),
            slice(self.new.start, min(self.new.start + count, self.new.stop)),
        )

    def last(self, count: int) -> _Step:
        return _Step(
            self.same,
            slice(max(self.old.stop - count, self.old.start), self.old.stop),
            slice(max(self.new.stop - count, self.new.start), self.new.stop),
        )


def _steps(old: list[str], new: list[str]) -> Iterator[_Step]:
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    end_old, end_new = len(old) - tail, len(new) - tail
    if head:
        yield _Step(True, slice(0, head), slice(0, head))
    if (end_old - head) * (end_new - head) > MOST_COMPARISONS:
        yield _Step(False, slice(head, end_old), slice(head, end_new))
    else:
        from difflib import SequenceMatcher  # here, because hardly anyone needs it

        matcher = SequenceMatcher(None, old[head:end_old], new[head:end_new], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            yield _Step(tag == "equal", slice(head + i, head + j), slice(head + k, head + m))
    if tail:
        yield _Step(True, slice(end_old, len(old)), slice(end_new, len(new)))


def _grouped(steps: Iterable[_Step]) -> Iterator[list[_Step]]:
    """Changes that are close to each other, with a few unchanged lines around them."""
    hunk: list[_Step] = []
    for step in steps:
        if not step.same:
            hunk.append(step)
        elif not hunk:
            hunk = [step.last(CONTEXT)]
        elif step.old.stop - step.old.start > 2 * CONTEXT:
            yield [*hunk, step.first(CONTEXT)]
            hunk = [step.last(CONTEXT)]
        else:
            hunk.append(step)
    if any(not step.same for step in hunk):
        if hunk[-1].same:
            hunk[-1] = hunk[-1].first(CONTEXT)
        yield hunk


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield "\\ No newline at end of file"


def _range(old_from: int, old_to: int, new_from: int, new_to: int) -> str:
    return f"@@ -{_span(old_from, old_to)} +{_span(new_from, new_to)} @@"


def _span(start: int, stop: int) -> str:
    length = stop - start
    first = start + 1 if length else start  # an empty span names the line before it
    return str(first) if length == 1 else f"{first},{length}"


_ESCAPES = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r"}
_ESCAPES |= {0x22: '\\"', 0x5C: "\\\\"}


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes with escapes when it holds anything but plain printable characters."""
    raw = path.encode("utf-8", "surrogatepass")
    if all(0x20 <= byte < 0x7F and byte not in _ESCAPES for byte in raw):
        return path
    written = [_ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in raw]
    return '"' + "".join(written) + '"'

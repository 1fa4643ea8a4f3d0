"""Write the change of one text file as a Git patch, as the protocol wants it: absolute paths, no `a/` and `b/`.

A separate module because `schema` (old drafts sent two texts) and `model` (`Diff.patch`) both need it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

CONTEXT_LINES = 3


def git_patch(
    path: str,
    old: str | None,
    new: str | None,
    *,
    operation: str | None = None,
    old_path: str | None = None,
    max_comparisons: int | None = None,
) -> str:
    """Return the patch that turns `old` into `new`. None is a file that doesn't exist; no change is an empty patch.

    `operation` is `add`, `delete`, `modify`, `move` or `copy`; the default follows from the texts. Finding the smallest
    patch takes time proportional to old lines × new lines. If that exceeds `max_comparisons`, everything between the
    first and the last difference becomes one block: set it for a peer's text that is read on the event loop."""
    operation = operation or ("add" if old is None else "delete" if new is None else "modify")
    if old == new and operation not in ("move", "copy"):
        return ""
    new_name, old_name = _quote(path), _quote(old_path or path)
    head = [f"diff --git {old_name} {new_name}\n"]
    if operation == "add":
        head.append("new file mode 100644\n")
    elif operation == "delete":
        head.append("deleted file mode 100644\n")
    elif operation in ("move", "copy"):
        verb = "rename" if operation == "move" else "copy"
        head += [f"{verb} from {old_name}\n", f"{verb} to {new_name}\n"]
    from_file = "/dev/null" if operation == "add" else _end_name(old_name)
    to_file = "/dev/null" if operation == "delete" else _end_name(new_name)
    body = _body(_split(old or ""), _split(new or ""), from_file, to_file, max_comparisons)
    return "".join([*head, *_mark_missing_newlines(body)])


def _body(old: list[str], new: list[str], from_file: str, to_file: str, max_comparisons: int | None) -> Iterator[str]:
    import difflib  # here, because most programs never write a patch

    if max_comparisons is not None:
        shorter = min(len(old), len(new))
        start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
        tail = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
        if (len(old) - tail - start) * (len(new) - tail - start) > max_comparisons:
            yield from (f"--- {from_file}\n", f"+++ {to_file}\n")
            yield from _block(old, new, start, tail)
            return
    yield from difflib.unified_diff(old, new, from_file, to_file, n=CONTEXT_LINES)


def _block(old: list[str], new: list[str], start: int, tail: int) -> Iterator[str]:
    """One hunk from the first to the last difference; the first `start` and last `tail` lines are equal."""
    first = max(start - CONTEXT_LINES, 0)
    rest = min(tail, CONTEXT_LINES)
    old_end, new_end = len(old) - tail, len(new) - tail
    yield f"@@ -{_range(first, old_end + rest)} +{_range(first, new_end + rest)} @@\n"
    yield from (f" {line}" for line in old[first:start])
    yield from (f"-{line}" for line in old[start:old_end])
    yield from (f"+{line}" for line in new[start:new_end])
    yield from (f" {line}" for line in old[old_end : old_end + rest])


def _range(start: int, stop: int) -> str:
    length = stop - start
    first = start + 1 if length else start  # an empty range names the line before it
    return str(first) if length == 1 else f"{first},{length}"


def _mark_missing_newlines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split(text: str) -> list[str]:
    """Split at line feeds only: to Git, a form feed is a character like any other."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _end_name(name: str) -> str:
    """Add the tab with which Git ends a name that contains a space, so that readers know where it stops."""
    return f"{name}\t" if " " in name else name


_ESCAPES = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r"}
_ESCAPES |= {0x22: '\\"', 0x5C: "\\\\"}


def _quote(path: str) -> str:
    """Quote a path as Git does: only if it has anything but printable ASCII, or quotes or backslashes."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that doesn't represent a byte
        raw = path.encode("utf-8", "surrogatepass")
    if all(0x20 <= byte < 0x7F and byte not in _ESCAPES for byte in raw):
        return path
    quoted = [_ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in raw]
    return '"' + "".join(quoted) + '"'

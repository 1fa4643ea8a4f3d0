"""Writes a change of a file as a Git patch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.model.tool import FileChange


def git_patch(change: FileChange) -> str:
    """One `diff --git` section with absolute paths; empty when the texts are not known."""
    if change.old_text is None and change.new_text is None:
        return ""
    import difflib

    path = _quoted(change.path)
    old_path = _quoted(change.old_path or change.path)
    head = [f"diff --git {old_path} {path}\n"]
    if change.operation == "add":
        head.append("new file mode 100644\n")
    elif change.operation == "delete":
        head.append("deleted file mode 100644\n")
    elif change.operation in ("move", "copy"):
        verb = "rename" if change.operation == "move" else "copy"
        head += [f"{verb} from {old_path}\n", f"{verb} to {path}\n"]
    old, new = _lines(change.old_text or ""), _lines(change.new_text or "")
    from_file = "/dev/null" if change.operation == "add" else old_path
    to_file = "/dev/null" if change.operation == "delete" else path
    body = [
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, from_file, to_file)
    ]
    return "".join(head + body)


def _lines(text: str) -> list[str]:
    """Lines end with a newline, and with nothing else: to Git a form feed is a character like any other."""
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _quoted(path: str) -> str:
    """Git's quoting: only names with control characters, quotes, backslashes or bytes beyond ASCII need it."""
    if all(32 <= ord(char) < 127 and char not in '"\\' for char in path):
        return path
    plain = {ord("\n"): "\\n", ord("\t"): "\\t", ord('"'): '\\"', ord("\\"): "\\\\"}
    quoted = [
        plain.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in path.encode("utf-8", "surrogateescape")
    ]
    return '"' + "".join(quoted) + '"'

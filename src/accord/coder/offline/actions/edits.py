"""Actions that change files. The tools show each change first, and ask for permission if the mode requires it."""

from __future__ import annotations

import re

from accord.coder.history import Result
from accord.coder.offline import requests as r
from accord.coder.offline.replies import FileText, file_in, hits_in, join_names, names_in, pluralize
from accord.coder.offline.script import PlannedCall, Script, Situation, Stopped, call, data_of, describe_failure, use

MAX_FILES = 200
READ_AT_ONCE = 10
MAX_RESPONSES = 30
"""Maximum number of model responses that edit files. The first edits one file, so that one refusal is enough."""


def replace(step: r.Replace, situation: Situation) -> Script[str]:
    situation.require("read_file", "edit_file")
    is_file = step.where.path in situation.attached or _is_file(step.where.path)
    if step.where.glob is None and is_file:
        chosen = [step.where.path]
    else:
        chosen = yield from _files_with(step, situation)
        if not chosen:
            return f"`{step.old}` was not found in {step.where}; nothing changed."
    changes = yield from _changes(chosen, step, situation)
    if not changes:
        return f"`{step.old}` was not found in {join_names(chosen)}; nothing changed."
    yield from _make(changes, step, situation)
    total = sum(count for _, count in changes.values())
    what = f"Removed {pluralize(total, 'occurrence')} of `{step.old}` from" if not step.new else ""
    what = what or f"Replaced `{step.old}` with `{step.new}` ({pluralize(total, 'place')}) in"
    return f"{what} {join_names(list(changes))}."


def _is_file(path: str) -> bool:
    """Return whether a path looks like a file: its name has an extension."""
    return path not in (".", "..") and "." in path.rstrip("/").rpartition("/")[2][1:] and not path.endswith("/")


def _files_with(step: r.Replace, situation: Situation) -> Script[list[str]]:
    """Find the files that contain the text."""
    line = next((each for each in step.old.split("\n") if each.strip()), step.old)
    (result,) = yield from use(
        situation,
        f"Looking for `{line}` in {step.where}…",
        call("search", pattern=line, path=step.where.path, glob=step.where.glob, literal=True, limit=1000),
    )
    found = list(dict.fromkeys(hit.path for hit in hits_in(result)))
    if not data_of(result)["complete"] or len(found) > MAX_FILES:
        raise Stopped(
            f"`{line}` occurs in too many places to change at once. Name a directory or a pattern such as `*.py`."
        )
    return found


def _changes(chosen: list[str], step: r.Replace, situation: Situation) -> Script[dict[str, tuple[PlannedCall, int]]]:
    """Read the files, several at a time, and return the edit for each, with the number of places it changes."""
    changes: dict[str, tuple[PlannedCall, int]] = {}
    for start in range(0, len(chosen), READ_AT_ONCE):
        some = chosen[start : start + READ_AT_ONCE]
        results = yield from use(
            situation, f"Reading {join_names(some)}…", *(call("read_file", file_path=each) for each in some)
        )
        for path, result in zip(some, results, strict=True):
            change = _change(path, file_in(result), step)
            if change is not None:
                changes[path] = change
    return changes


def _change(path: str, got: FileText, step: r.Replace) -> tuple[PlannedCall, int] | None:
    text, pattern = got.text, re.compile(rf"(?<!\w){re.escape(step.old)}(?!\w)")
    words = len(pattern.findall(text))
    count = text.count(step.old)
    plain = call(
        "edit_file",
        file_path=path,
        edits=[{"old_string": step.old, "new_string": step.new, "replace_all": True}],
    )
    if not step.word or (words == count and got.is_whole):
        if count:
            return plain, count
        return None if got.is_whole else (plain, 1)  # a truncated file: the tool sees the rest of it
    if not words and got.is_whole:
        return None
    if not got.is_whole:
        raise Stopped(f"`{path}` is too long to tell whole words from parts of words; name the exact text to replace.")
    # Occurrences inside longer words stay, so one edit replaces everything between the first change and the last.
    edit = _passage(text, pattern.sub(lambda _: step.new, text))
    return call("edit_file", file_path=path, edits=[edit]), words


def _passage(old: str, new: str) -> dict[str, str]:
    """Return one edit that turns a text into another with as many lines: the lines that differ, with as many lines
    around them as it takes to make them unique."""
    before, after = old.split("\n"), new.split("\n")
    differ = [index for index, (left, right) in enumerate(zip(before, after, strict=True)) if left != right]
    first, last, more = differ[0], differ[-1], 1
    while old.find(passage := "\n".join(before[first : last + 1])) != old.rfind(passage):
        first, last, more = max(0, first - more), min(len(before) - 1, last + more), more * 2
    return {"old_string": passage, "new_string": "\n".join(after[first : last + 1])}


def _make(changes: dict[str, tuple[PlannedCall, int]], step: r.Replace, situation: Situation) -> Script[None]:
    calls = [change for change, _ in changes.values()]
    files = list(changes)
    size = max(1, -(-(len(calls) - 1) // (MAX_RESPONSES - 1)))
    start, done = 0, 0
    while start < len(calls):
        some = calls[start : start + (1 if start == 0 else size)]
        names = files[start : start + len(some)]
        results = yield from use(situation, f"Changing {join_names(names)}…", *some, lenient=True)
        done += sum(not result.failed for result in results)
        failed: Result | None = next((result for result in results if result.failed), None)
        if failed is not None:
            rest = f" {pluralize(done, 'file')} of {len(calls)} changed." if len(calls) > 1 else ""
            raise Stopped(describe_failure(failed) + rest)
        start += len(some)


def write(step: r.WriteFile, situation: Situation) -> Script[str]:
    situation.require("write_file")
    if step.new and "list_files" in situation.tools and not step.path.startswith(("/", "~", "..")):
        pattern = re.sub(r"([*?\[\]{}\\])", r"\\\1", step.path.removeprefix("./"))
        (found,) = yield from use(
            situation,
            f"Checking whether `{step.path}` exists…",
            call("list_files", pattern=f"/{pattern}" if "/" not in pattern else pattern),
            lenient=True,
        )
        if not found.failed and step.path.removeprefix("./") in names_in(found):
            raise Stopped(f"`{step.path}` already exists. Say `overwrite {step.path} with …` to replace it.")
    if not step.new and "read_file" in situation.tools:
        yield from use(  # the tool replaces only files that were read
            situation, f"Reading `{step.path}`…", call("read_file", file_path=step.path), lenient=True
        )
    (result,) = yield from use(
        situation, f"Writing `{step.path}`…", call("write_file", file_path=step.path, content=step.content)
    )
    return _sentence(result, f"Wrote `{step.path}`.")


def append(step: r.Append, situation: Situation) -> Script[str]:
    situation.require("read_file", "edit_file", "write_file")
    (result,) = yield from use(
        situation, f"Reading `{step.path}`…", call("read_file", file_path=step.path), lenient=True
    )
    if result.failed and result.data.get("problem") != "missing":
        raise Stopped(describe_failure(result))
    got = FileText("") if result.failed else file_in(result)
    if not got.text.strip("\n"):
        change = call("write_file", file_path=step.path, content=step.content)
    else:
        start = yield from _whole_end(step, got, situation)
        old = _unique_end(start)
        change = call(
            "edit_file",
            file_path=step.path,
            edits=[{"old_string": old, "new_string": f"{old}\n{step.content.rstrip(chr(10))}"}],
        )
    (done,) = yield from use(situation, f"Appending to `{step.path}`…", change)
    lines = pluralize(step.content.count("\n"), "line")
    return (
        f"Appended {lines} to `{step.path}`."
        if change.name == "edit_file"
        else _sentence(done, f"Wrote `{step.path}`.")
    )


def _whole_end(step: r.Append, got: FileText, situation: Situation) -> Script[str]:
    """Read the rest of a file, and return its whole text."""
    text = got.text
    for _ in range(20):
        if got.next_line is None:
            return text
        (result,) = yield from use(
            situation,
            f"Reading the rest of `{step.path}`…",
            call("read_file", file_path=step.path, offset=got.next_line),
        )
        got = file_in(result)
        text += got.text
    raise Stopped(f"`{step.path}` is too long to append to.")


def _unique_end(text: str) -> str:
    """Return the last lines of a text, as many as it takes to make them unique in it."""
    body = text.rstrip("\n")
    lines = body.split("\n")
    count = 1
    while count < len(lines):
        end = "\n".join(lines[-count:])
        if end.strip() and body.find(end) == len(body) - len(end):
            return end
        count *= 2
    return body


def move(step: r.MoveFile, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation,
        f"Moving `{step.source}` to `{step.target}`…",
        call("move_or_delete", operation="move", file_path=step.source, destination=step.target),
    )
    return _sentence(result, f"Moved `{step.source}` to `{step.target}`.")


def delete(step: r.DeleteFiles, situation: Situation) -> Script[str]:
    for index, path in enumerate(step.paths):
        (result,) = yield from use(
            situation, f"Deleting `{path}`…", call("move_or_delete", operation="delete", file_path=path), lenient=True
        )
        if result.failed:
            done = f" Already deleted: {join_names(step.paths[:index])}." if index else ""
            raise Stopped(describe_failure(result) + done)
    return f"Deleted {join_names(step.paths)}."


def _sentence(result: Result, otherwise: str) -> str:
    """Return the tool's output if it is one sentence."""
    text = result.text.strip()
    return text if text and "\n" not in text and len(text) < 300 else otherwise

"""Changing files: every change is shown by its tool before it is made, and asked about where the mode wants it."""

from __future__ import annotations

import re

from accord.coder.history import Result
from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import Reading, counted, hits, named, paths, reading
from accord.coder.models.offline.script import Script, Situation, Stopped, Want, failure, use, want

MOST_FILES = 200
READ_AT_ONCE = 10
ANSWERS = 30
"""In how many answers files are edited at most: the first alone, so that one refusal is enough."""


def replace(step: r.Replace, situation: Situation) -> Script[str]:
    situation.need("read_file", "edit_file")
    is_file = step.where.path in situation.attached or _is_file(step.where.path)
    if step.where.glob is None and is_file:
        chosen = [step.where.path]
    else:
        chosen = yield from _files_with(step, situation)
        if not chosen:
            return f"`{step.old}` was not found in {step.where}; nothing was changed."
    changes = yield from _changes(chosen, step, situation)
    if not changes:
        return f"`{step.old}` was not found in {named(chosen)}; nothing was changed."
    yield from _make(changes, step, situation)
    total = sum(count for _, count in changes.values())
    what = f"Removed {counted(total, 'time')} `{step.old}` from" if not step.new else ""
    what = what or f"Replaced `{step.old}` with `{step.new}` at {counted(total, 'place')} in"
    return f"{what} {named(list(changes))}."


def _is_file(path: str) -> bool:
    """Whether a path is a file's: its name has an ending."""
    return path not in (".", "..") and "." in path.rstrip("/").rpartition("/")[2][1:] and not path.endswith("/")


def _files_with(step: r.Replace, situation: Situation) -> Script[list[str]]:
    """The files that contain the text."""
    line = next((each for each in step.old.split("\n") if each.strip()), step.old)
    (result,) = yield from use(
        situation,
        f"I look for `{line}` in {step.where}.",
        want("search", pattern=line, path=step.where.path, glob=step.where.glob, limit=1000),
    )
    found = list(dict.fromkeys(hit.path for hit in hits(result.text)))
    if "[there is more" in result.text or "[too much to show" in result.text or len(found) > MOST_FILES:
        raise Stopped(f"`{line}` is in more places than I change at once. Name a folder or a pattern such as `*.py`.")
    return found


def _changes(chosen: list[str], step: r.Replace, situation: Situation) -> Script[dict[str, tuple[Want, int]]]:
    """What is to be done to each file, and at how many places. Reads the files, several at once."""
    changes: dict[str, tuple[Want, int]] = {}
    for start in range(0, len(chosen), READ_AT_ONCE):
        some = chosen[start : start + READ_AT_ONCE]
        results = yield from use(situation, f"I read {named(some)}.", *(want("read_file", path=each) for each in some))
        for path, result in zip(some, results, strict=True):
            change = _change(path, reading(result.text), step)
            if change is not None:
                changes[path] = change
    return changes


def _change(path: str, got: Reading, step: r.Replace) -> tuple[Want, int] | None:
    text, pattern = got.text, re.compile(rf"(?<!\w){re.escape(step.old)}(?!\w)")
    words = len(pattern.findall(text))
    count = text.count(step.old)
    plain = want("edit_file", path=path, edits=[{"old": step.old, "new": step.new, "all": True}])
    if not step.word or (words == count and got.whole):
        if count:
            return plain, count
        return None if got.whole else (plain, 1)  # a long file: the tool sees the rest of it
    if not words and got.whole:
        return None
    if not got.whole:
        raise Stopped(f"`{path}` is too long for me to tell words from parts of words; replace in it by its lines.")
    # Some are parts of longer words, and stay: all between the first change and the last is replaced at once.
    edit = _passage(text, pattern.sub(lambda _: step.new, text))
    return want("edit_file", path=path, edits=[edit]), words


def _passage(old: str, new: str) -> dict[str, str]:
    """One replacement that makes one text of another with as many lines: the lines that differ, and around them as many
    as make them like no others."""
    before, after = old.split("\n"), new.split("\n")
    differ = [index for index, (left, right) in enumerate(zip(before, after, strict=True)) if left != right]
    first, last, more = differ[0], differ[-1], 1
    while old.find(passage := "\n".join(before[first : last + 1])) != old.rfind(passage):
        first, last, more = max(0, first - more), min(len(before) - 1, last + more), more * 2
    return {"old": passage, "new": "\n".join(after[first : last + 1])}


def _make(changes: dict[str, tuple[Want, int]], step: r.Replace, situation: Situation) -> Script[None]:
    wants = [change for change, _ in changes.values()]
    files = list(changes)
    size = max(1, -(-(len(wants) - 1) // (ANSWERS - 1)))
    start, done = 0, 0
    while start < len(wants):
        some = wants[start : start + (1 if start == 0 else size)]
        names = files[start : start + len(some)]
        results = yield from use(situation, f"I change {named(names)}.", *some, lenient=True)
        done += sum(not result.failed for result in results)
        failed: Result | None = next((result for result in results if result.failed), None)
        if failed is not None:
            rest = f" {counted(done, 'file')} of {len(wants)} changed." if len(wants) > 1 else ""
            raise Stopped(failure(failed) + rest)
        start += len(some)


def write(step: r.WriteFile, situation: Situation) -> Script[str]:
    situation.need("write_file")
    if step.new and "find_files" in situation.tools and not step.path.startswith(("/", "~", "..")):
        pattern = re.sub(r"([*?\[\]{}\\])", r"\\\1", step.path.removeprefix("./"))
        (found,) = yield from use(
            situation,
            f"I see whether `{step.path}` is there already.",
            want("find_files", pattern=f"/{pattern}" if "/" not in pattern else pattern),
            lenient=True,
        )
        if not found.failed and step.path.removeprefix("./") in paths(found.text):
            raise Stopped(f"`{step.path}` exists already. Say `overwrite {step.path} with …` to replace it.")
    (result,) = yield from use(
        situation, f"I write `{step.path}`.", want("write_file", path=step.path, content=step.content)
    )
    return _sentence(result, f"Wrote `{step.path}`.")


def append(step: r.Append, situation: Situation) -> Script[str]:
    situation.need("read_file", "edit_file", "write_file")
    (result,) = yield from use(situation, f"I read `{step.path}`.", want("read_file", path=step.path), lenient=True)
    if result.failed and not re.search(r"no such file|not found|does not exist|no file|there is no", result.text, re.I):
        raise Stopped(failure(result))
    got = reading(result.text)
    if result.failed or not got.text.strip("\n"):
        change = want("write_file", path=step.path, content=step.content)
    else:
        start = yield from _whole_end(step, got, situation)
        old = _unique_end(start)
        change = want(
            "edit_file", path=step.path, edits=[{"old": old, "new": f"{old}\n{step.content.rstrip(chr(10))}"}]
        )
    (done,) = yield from use(situation, f"I add to the end of `{step.path}`.", change)
    lines = counted(step.content.count("\n"), "line")
    return (
        f"Appended {lines} to `{step.path}`."
        if change.name == "edit_file"
        else _sentence(done, f"Wrote `{step.path}`.")
    )


def _whole_end(step: r.Append, got: Reading, situation: Situation) -> Script[str]:
    """The file's text, read on to its end."""
    text = got.text
    for _ in range(20):
        more = re.search(r"go on with line=(\d+)", got.notes)
        if more is None:
            return text
        (result,) = yield from use(situation, "I read on.", want("read_file", path=step.path, line=int(more[1])))
        got = reading(result.text)
        text += got.text
    raise Stopped(f"`{step.path}` is too long for me to find its end.")


def _unique_end(text: str) -> str:
    """The last lines of a text, as many as make them its only ones."""
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
        f"I move `{step.source}` to `{step.target}`.",
        want("move_file", source=step.source, target=step.target),
    )
    return _sentence(result, f"Moved `{step.source}` to `{step.target}`.")


def delete(step: r.DeleteFiles, situation: Situation) -> Script[str]:
    for index, path in enumerate(step.paths):
        (result,) = yield from use(situation, f"I delete `{path}`.", want("delete_file", path=path), lenient=True)
        if result.failed:
            done = f" Deleted before that: {named(step.paths[:index])}." if index else ""
            raise Stopped(failure(result) + done)
    return f"Deleted {named(step.paths)}."


def _sentence(result: Result, otherwise: str) -> str:
    """The tool's own sentence, when it is one."""
    text = result.text.strip()
    return text if text and "\n" not in text and len(text) < 300 else otherwise

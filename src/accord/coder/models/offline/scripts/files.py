"""Looking at files: listing, reading, finding, outlining."""

from __future__ import annotations

import re

from accord.coder.history import Result
from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import (
    Reading,
    bulleted,
    counted,
    fenced,
    language,
    named,
    paths,
    reading,
)
from accord.coder.models.offline.projects import is_note
from accord.coder.models.offline.script import Script, Situation, Stopped, failure, use, want

MOST_AT_ONCE = 20
"""How many files are read in one answer."""


def list_files(step: r.ListFiles, situation: Situation) -> Script[str]:
    where = "the project" if step.path == "." else f"`{step.path}`"
    (result,) = yield from use(situation, f"I list {where}.", want("list_files", path=step.path, depth=step.depth))
    told = [line for line in result.text.split("\n") if line]
    notes = [line for line in told if is_note(line)]
    lines = [line for line in told if not is_note(line)]
    if not lines:
        return f"There is nothing in {where}." + _noted(notes)
    folders = sum(1 for line in lines if re.search(r"/(?:\s+\(hidden\))?$", line))
    parts = [counted(len(lines) - folders, "file")] + ([counted(folders, "folder")] if folders else [])
    are = "is" if len(lines) == 1 and not folders else "are"
    return f"There {are} {' and '.join(parts)} in {where}:\n\n{fenced(chr(10).join(lines), most=60)}" + _noted(notes)


def _noted(notes: list[str]) -> str:
    told = [note for note in notes if not note.startswith("[the directory is empty")]
    return "".join(f"\n\n({note[1:-1]})" for note in told)


def read_files(step: r.ReadFiles, situation: Situation) -> Script[str]:
    attached = [path for path in step.paths if path in situation.attached and step.first is None and not step.tail]
    answers = [_told(path, reading(situation.attached[path]), step) for path in attached]
    wanted = [path for path in step.paths if path not in attached]
    for start in range(0, len(wanted), MOST_AT_ONCE):
        some = wanted[start : start + MOST_AT_ONCE]
        calls = [want("read_file", path=path, line=step.first, limit=_limit(step)) for path in some]
        results = yield from use(situation, f"I read {named(some)}.", *calls, lenient=True)
        for path, result in zip(some, results, strict=True):
            if result.failed:
                path, result = yield from _elsewhere(path, result, step, situation)
            answers.append(_told(path, reading(result.text), step))
    return "\n\n".join(answers)


def _limit(step: r.ReadFiles) -> int | None:
    return step.last - (step.first or 1) + 1 if step.last is not None else None


def _elsewhere(path: str, result: Result, step: r.ReadFiles, situation: Situation) -> Script[tuple[str, Result]]:
    """A file that is not there may be in another folder: if there is one of that name, it is meant."""
    if "find_files" not in situation.tools or path.startswith(("/", "~")) or re.search(r"[*?\[\]{}]", path):
        raise Stopped(failure(result))
    (found,) = yield from use(
        situation, f"`{path}` cannot be read; I look for it.", want("find_files", pattern=f"**/{path}"), lenient=True
    )
    others = [other for other in ([] if found.failed else paths(found.text)) if other != path]
    if not others:
        raise Stopped(failure(result))
    if len(others) > 1:
        raise Stopped(f"There is no `{path}` here, but several of that name. Which one?\n\n{bulleted(others, 10)}")
    (again,) = yield from use(
        situation, f"I read `{others[0]}`.", want("read_file", path=others[0], line=step.first, limit=_limit(step))
    )
    return others[0], again


def _told(path: str, got: Reading, step: r.ReadFiles) -> str:
    lines = got.text.rstrip("\n").split("\n") if got.text.strip("\n") else []
    if step.tail is not None:
        last = lines[-step.tail :]
        cut = "" if got.whole else " that were read"
        return (
            f"The last {counted(len(last), 'line')} of `{path}`{cut}:\n\n{fenced(chr(10).join(last), language(path))}"
        )
    if not lines:
        return f"`{path}` {got.notes or 'is empty'}.".replace("the file is empty", "is empty")
    if step.first is not None:
        end = step.first + len(lines) - 1
        span = f"line {end}" if len(lines) == 1 else f"lines {step.first} to {end}"
        return f"`{path}`, {span}:\n\n{fenced(got.text, language(path), most=80)}"
    total = re.search(r"of ([\d,]+)", got.notes)
    size = f"{total[1]} lines" if total and not got.whole else counted(len(lines), "line")
    return f"`{path}` has {size}:\n\n{fenced(got.text, language(path))}"


def find_files(step: r.FindFiles, situation: Situation) -> Script[str]:
    pattern = step.pattern.removeprefix("**/")
    where = "" if step.path == "." else f" in `{step.path}`"
    (result,) = yield from use(
        situation,
        f"I look for files that match `{pattern}`{where}.",
        want("find_files", pattern=step.pattern, path=step.path),
    )
    found = paths(result.text)
    if not found:
        return f"No file{where} matches `{pattern}`."
    more = " (and there are more)" if "[there are more" in result.text else ""
    verb = "file matches" if len(found) == 1 else "files match"
    return f"{len(found):,} {verb} `{pattern}`{where}{more}:\n\n{bulleted(found)}"


def outline(step: r.Outline, situation: Situation) -> Script[str]:
    text = situation.attached.get(step.path)
    if text is not None and "outline" not in situation.tools:
        return f"`{step.path}` has {counted(len(text.splitlines()), 'line')}:\n\n{fenced(text, language(step.path))}"
    what = "the project" if step.path == "." else f"`{step.path}`"
    (result,) = yield from use(situation, f"I look at {what}.", want("outline", path=step.path))
    if not result.text.strip():
        return f"There is nothing to outline in {what}."
    return f"This is {what}:\n\n{fenced(result.text, most=80)}"

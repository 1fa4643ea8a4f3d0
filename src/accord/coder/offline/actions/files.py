"""Read-only actions: list, read, find, outline and search files, and find symbols."""

from __future__ import annotations

import re

from accord.coder.history import Result
from accord.coder.offline import requests as r
from accord.coder.offline.replies import (
    FileText,
    Hit,
    fence,
    file_in,
    hits_in,
    join_names,
    language_of,
    list_hits,
    list_names,
    names_in,
    pluralize,
)
from accord.coder.offline.rules.rule import WELL_KNOWN
from accord.coder.offline.script import Script, Situation, Stopped, call, data_of, describe_failure, use

MAX_READS_AT_ONCE = 20
"""Maximum number of files to read in one model response."""


def list_files(step: r.ListFiles, situation: Situation) -> Script[str]:
    where = "the project" if step.path == "." else f"`{step.path}`"
    (result,) = yield from use(situation, f"Listing {where}…", call("list_files", path=step.path, depth=step.depth))
    names = names_in(result)
    # The text has a line for each name, or one that says that there is none. Notes follow.
    output = result.text.split("\n")
    lines, notes = output[: len(names)], _format_notes(output[max(len(names), 1) :])
    if not names:
        return f"{where[:1].upper()}{where[1:]} is empty.{notes}"
    directories = sum(name.endswith("/") for name in names)
    parts = [pluralize(len(names) - directories, "file")]
    if directories:
        parts.append(pluralize(directories, "directory", "directories"))
    are = "is" if len(names) == 1 and not directories else "are"
    return f"There {are} {' and '.join(parts)} in {where}:\n\n{fence(chr(10).join(lines), limit=60)}{notes}"


def _format_notes(notes: list[str]) -> str:
    return "".join(f"\n\n({note[1:-1]})" for note in notes)


def read_files(step: r.ReadFiles, situation: Situation) -> Script[str]:
    attached = [path for path in step.paths if path in situation.attached and step.first is None and not step.tail]
    answers = [_describe(path, FileText(situation.attached[path]), step) for path in attached]
    wanted = [path for path in step.paths if path not in attached]
    for start in range(0, len(wanted), MAX_READS_AT_ONCE):
        some = wanted[start : start + MAX_READS_AT_ONCE]
        calls = [call("read_file", file_path=path, offset=step.first, limit=_limit(step)) for path in some]
        results = yield from use(situation, f"Reading {join_names(some)}…", *calls, lenient=True)
        for path, result in zip(some, results, strict=True):
            if result.failed:
                path, result = yield from read_or_find(path, result, step, situation)
            answers.append(_describe(path, file_in(result), step))
    return "\n\n".join(answers)


def _limit(step: r.ReadFiles) -> int | None:
    return step.last - (step.first or 1) + 1 if step.last is not None else None


def read_or_find(path: str, result: Result, step: r.ReadFiles, situation: Situation) -> Script[tuple[str, Result]]:
    """Look for a missing file in other directories, and read it if there is exactly one with that name."""
    if "list_files" not in situation.tools or path.startswith(("/", "~")) or re.search(r"[*?\[\]{}]", path):
        raise Stopped(describe_failure(result))
    (found,) = yield from use(
        situation,
        f"Couldn't read `{path}`; looking for it in other directories…",
        call("list_files", pattern=_pattern_for(path)),
        lenient=True,
    )
    others = [other for other in ([] if found.failed else names_in(found)) if other != path]
    others = [other for other in others if "/" not in other][:1] or others if _is_bare(path) else others
    if not others:
        raise Stopped(describe_failure(result))
    if len(others) > 1:
        choices = list_names(others, 10)
        raise Stopped(f"`{path}` doesn't exist, but there are several files with that name. Which one?\n\n{choices}")
    (again,) = yield from use(
        situation,
        f"Reading `{others[0]}`…",
        call("read_file", file_path=others[0], offset=step.first, limit=_limit(step)),
    )
    return others[0], again


def _is_bare(path: str) -> bool:
    """Return whether a path is a name like `readme`, which stands for README.md."""
    return path.lower() in WELL_KNOWN


def _pattern_for(path: str) -> str:
    if not _is_bare(path):
        return f"**/{path}"
    return "**/" + "".join(f"[{each.upper()}{each.lower()}]" for each in path) + "*"


def _describe(path: str, got: FileText, step: r.ReadFiles) -> str:
    lines = got.text.rstrip("\n").split("\n") if got.text.strip("\n") else []
    if step.tail is not None:
        last = lines[-step.tail :]
        cut = "" if got.is_whole else " that I read"
        shown = fence("\n".join(last), language_of(path))
        return f"The last {pluralize(len(last), 'line')} of `{path}`{cut}:\n\n{shown}"
    if not lines:
        return f"`{path}` has only {pluralize(got.total, 'line')}." if got.total else f"`{path}` is empty."
    if step.first is not None:
        end = step.first + len(lines) - 1
        span = f"line {end}" if len(lines) == 1 else f"lines {step.first} to {end}"
        return f"`{path}`, {span}:\n\n{fence(got.text, language_of(path), limit=80)}"
    size = pluralize(len(lines) if got.is_whole or got.total is None else got.total, "line")
    return f"`{path}` has {size}:\n\n{fence(got.text, language_of(path))}"


def find_files(step: r.FindFiles, situation: Situation) -> Script[str]:
    pattern = step.pattern.removeprefix("**/")
    where = "" if step.path == "." else f" in `{step.path}`"
    (result,) = yield from use(
        situation,
        f"Looking for files that match `{pattern}`{where}…",
        call("list_files", pattern=step.pattern, path=step.path),
    )
    found = names_in(result)
    if not found:
        return f"No file{where} matches `{pattern}`."
    more = "" if data_of(result)["complete"] else " (there are more)"
    verb = "file matches" if len(found) == 1 else "files match"
    return f"{len(found):,} {verb} `{pattern}`{where}{more}:\n\n{list_names(found)}"


def outline(step: r.Outline, situation: Situation) -> Script[str]:
    text = situation.attached.get(step.path)
    if text is not None and "outline" not in situation.tools:
        return (
            f"`{step.path}` has {pluralize(len(text.splitlines()), 'line')}:\n\n{fence(text, language_of(step.path))}"
        )
    what = "the project" if step.path == "." else f"`{step.path}`"
    (result,) = yield from use(situation, f"Outlining {what}…", call("outline", path=step.path))
    if not result.text.strip():
        return f"There is nothing to outline in {what}."
    return f"Outline of {what}:\n\n{fence(result.text, limit=80)}"


def search(step: r.Search, situation: Situation) -> Script[str]:
    what = f"`{step.text}`" if "`" not in step.text else f"“{step.text}”"
    arguments = {} if step.regex else {"literal": True}
    if step.ignore_case:
        arguments["ignore_case"] = True
    (result,) = yield from use(
        situation,
        f"Searching {step.where} for {what}…",
        call("search", pattern=step.text, path=step.where.path, glob=step.where.glob, **arguments),
    )
    found = hits_in(result)
    if not found:
        if not data_of(result)["complete"]:
            return f"Couldn't search all of {step.where} for {what}: the search took too long. Try a single directory."
        hint = "" if step.ignore_case else " The search is case-sensitive; add “ignoring case” to change that."
        return f"{what} was not found in {step.where}.{hint}"
    return f"{what} is {_places(found, not data_of(result)['complete'])}:\n\n{list_hits(found)}"


def _places(found: list[Hit], more: bool) -> str:
    files = list(dict.fromkeys(hit.path for hit in found))
    least = "at least " if more else ""
    return f"in {least}{pluralize(len(found), 'line')} of {pluralize(len(files), 'file')}"


def find_symbol(step: r.FindSymbol, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation,
        f"Looking for where `{step.name}` is {step.what}…",
        call("outline", symbol=step.name, find="definitions" if step.what == "defined" else "uses"),
    )
    found = hits_in(result)
    if not found:
        return f"Found no place where `{step.name}` is {step.what}."
    if len(found) == 1:
        return f"`{step.name}` is {step.what} in `{found[0].path}`, line {found[0].line}:\n\n{list_hits(found)}"
    files = list(dict.fromkeys(hit.path for hit in found))
    places = f"{pluralize(len(found), 'place')} in {join_names(files)}"
    return f"`{step.name}` is {step.what} in {places}:\n\n{list_hits(found)}"

"""Looking for text, and for the places where a name is defined or used."""

from __future__ import annotations

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.answering import Hit, counted, hits, listed, named
from accord.coder.models.offline.script import Script, Situation, use, want

MOST = 200


def search(step: r.Search, situation: Situation) -> Script[str]:
    what = f"`{step.text}`" if "`" not in step.text else f"“{step.text}”"
    arguments = {"regex": True} if step.regex else {}
    if step.ignore_case:
        arguments["ignore_case"] = True
    (result,) = yield from use(
        situation,
        f"I search {step.where} for {what}.",
        want("search", pattern=step.text, path=step.where.path, glob=step.where.glob, **arguments),
    )
    found = hits(result.text)
    if not found:
        hint = "" if step.ignore_case else " Upper and lower case count; say “ignoring case” if they should not."
        return f"{what} was not found in {step.where}.{hint}"
    return f"{what} is {_places(found, 'there is more' in result.text)}:\n\n{listed(found)}"


def _places(found: list[Hit], more: bool) -> str:
    files = list(dict.fromkeys(hit.path for hit in found))
    least = "at least " if more else ""
    return f"in {least}{counted(len(found), 'line')} of {counted(len(files), 'file')}"


def find_symbol(step: r.FindSymbol, situation: Situation) -> Script[str]:
    (result,) = yield from use(
        situation,
        f"I look for where `{step.name}` is {step.what}.",
        want("find_symbol", name=step.name, what=step.what),
    )
    found = hits(result.text)
    if not found:
        return f"I found no place where `{step.name}` is {step.what}."
    if len(found) == 1:
        return f"`{step.name}` is {step.what} in `{found[0].path}`, line {found[0].line}:\n\n{listed(found)}"
    files = list(dict.fromkeys(hit.path for hit in found))
    return f"`{step.name}` is {step.what} at {counted(len(found), 'place')} in {named(files)}:\n\n{listed(found)}"

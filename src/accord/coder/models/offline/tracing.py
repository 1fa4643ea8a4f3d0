"""The grammar of tracing: where a name is defined and used, and what has changed."""

from __future__ import annotations

import re

from accord.coder.models.offline.looking import FILE_NAME, anywhere
from accord.coder.models.offline.reading import Parts, Reader, Rule
from accord.coder.models.offline.requests import FindFiles, FindSymbol, Review, ShowChanges, Step

IDENTIFIER = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|->|#)[^\W\d][\w$]*)*")


def symbol(reader: Reader, parts: Parts) -> Step | None:
    value = reader.value(parts["x"] or "").strip().rstrip("?.!,").removesuffix("()")
    if not reader.quoted(parts["x"]) and FILE_NAME.fullmatch(value):
        return FindFiles(pattern=anywhere(value))
    if not IDENTIFIER.fullmatch(value) or value.lower() in {"it", "this", "that"}:
        return None
    used = parts.get("used") and not re.match("def|decl|impl", parts["used"] or "", re.IGNORECASE)
    return FindSymbol(name=value, what="used" if used else "defined")


def changes(reader: Reader, parts: Parts) -> Step | None:
    if parts.get("f") is None:
        return ShowChanges()
    where = reader.where(parts["f"])
    return None if where is None or where.glob else ShowChanges(path=None if where.path == "." else where.path)


def review(reader: Reader, parts: Parts) -> Step | None:
    return Review()


SYMBOL = (
    r"{the}(?:(?:function|class|method|variable|symbol|name|constant|type|module" r"|attribute) )?(?P<x>{q}|[^\s,;]+)"
)
USED = r"(?P<used>defined|declared|implemented|used|called|imported|referenced|mentioned|invoked)"

RULES = [
    Rule(
        r"(?:review|check|look over|go over|do a review of|do a code review of) {the}"
        r"(?:uncommitted |recent |last |git |working |tree's |tree |working tree's )*"
        r"(?:changes?|diff|edits|work|working tree|patch)(?: {in} .{1,40})?",
        review,
    ),
    Rule(r"(?:do |make )?{the}(?:code )?review", review),
    Rule(
        r"(?:what|which files?|what files?|what all)"
        r"(?: has| have| was| were| did|'s| is| are)?(?: i| we| you| they| been)?(?: been)? "
        r"(?:changed?|modified|edited|different|new)(?: (?:in|inside|under) (?P<f>.+?))?"
        r"(?: since .+| so far| recently)?",
        changes,
    ),
    Rule(
        r"(?:(?:show|see|display|print|view|give|list|get|what are|what is"
        r"|what's){me} )?{the}(?:git |uncommitted |recent |unstaged |staged |working tree "
        r"|local |pending )*(?:diff|changes|modifications|status|git status|git diff)(?: "
        r"(?:of|in|for|to|inside|under) (?P<f>.+?))?",
        changes,
    ),
    Rule(r"git (?:status|diff)(?: --)?(?: (?P<f>[^\s-]\S*))?", changes),
    Rule(
        r"(?:where (?:is|are|was|does|do|'s)|find (?:out )?where|show{me} where|where's) "
        + SYMBOL
        + r"(?: is| gets?| are)?(?: being)? "
        + USED
        + r"(?: from)?",
        symbol,
    ),
    Rule(
        r"where (?:do we|do i|do they|is it|can i) (?P<used>define|declare|implement|use|call|import|reference|find) "
        + SYMBOL,
        symbol,
    ),
    Rule(
        r"(?:who|what|which (?:code|files?|functions?|modules?)|find what|find who|show{me} "
        r"(?:who|what)) (?P<used>calls|uses|imports|references|mentions|invokes|defines"
        r"|declares|implements) " + SYMBOL,
        symbol,
    ),
    Rule(
        r"(?:(?:find|show|go to|jump to|list|look up|get){me} )?{the}"
        r"(?P<used>definitions?|declarations?|implementations?|usages?|uses|references"
        r"|callers|calls) (?:of|to|for) " + SYMBOL,
        symbol,
    ),
    Rule(r"is " + SYMBOL + r" (?P<used>used|called|imported|referenced) anywhere", symbol),
    Rule(r"(?:where is|where's|where are) " + SYMBOL, symbol),
]

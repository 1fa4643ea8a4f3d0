"""Rules for finding definitions and uses of a name, and for showing and reviewing changes."""

from __future__ import annotations

import re

from accord.coder.offline.requests import FindFiles, FindSymbol, Review, ShowChanges, Step
from accord.coder.offline.rules.files import FILE_NAME, anywhere
from accord.coder.offline.rules.rule import Parts, Reader, Rule

IDENTIFIER = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|->|#)[^\W\d][\w$]*)*")


def symbol(reader: Reader, parts: Parts) -> Step | None:
    value = reader.value(parts["x"] or "").strip().rstrip("?.!,").removesuffix("()")
    if not reader.is_quoted(parts["x"]) and FILE_NAME.fullmatch(value):
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
    r"{the}(?:(?:function|class|method|variable|symbol|name|constant|type|module|attribute) )?"
    r"(?P<x>{q}|[^\s,;]+)"
)
IS_USED = (
    r"(?: is| gets?| are)?(?: being)? "
    r"(?P<used>defined|declared|implemented|used|called|imported|referenced|mentioned|invoked)(?: from)?"
)
USES = r"(?P<used>calls|uses|imports|references|mentions|invokes|defines|declares|implements)"
WHICH_CHANGES = (
    r"{the}(?:git |uncommitted |recent |last |unstaged |staged |local |pending |working tree |working tree's )*"
)

RULES = [
    Rule(
        r"(?:review|check|look over|go over|do a review of|do a code review of) "
        + WHICH_CHANGES
        + r"(?:changes?|diff|edits|work|working tree|patch)(?: {in} .{1,40})?",
        review,
    ),
    Rule(r"(?:do |make )?{the}(?:code )?review", review),
    Rule(
        r"(?:what|which files?|what files?|what all)(?: has| have| was| were| did|'s| is| are)?"
        r"(?: i| we| you| they| been)?(?: been)? (?:changed?|modified|edited|different|new)"
        r"(?: (?:in|inside|under) (?P<f>.+?))?(?: since .+| so far| recently)?",
        changes,
    ),
    Rule(
        r"(?:(?:show|see|display|print|view|give|list|get|what are|what is|what's){me} )?"
        + WHICH_CHANGES
        + r"(?:diff|changes|modifications|status|git status|git diff)"
        r"(?: (?:of|in|for|to|inside|under) (?P<f>.+?))?",
        changes,
    ),
    Rule(r"git (?:status|diff)(?: --)?(?: (?P<f>[^\s-]\S*))?", changes),
    Rule(
        r"(?:where (?:is|are|was|does|do|'s)|find (?:out )?where|show{me} where|where's) " + SYMBOL + IS_USED,
        symbol,
    ),
    Rule(
        r"where (?:do we|do i|do they|is it|can i) (?P<used>define|declare|implement|use|call|import|reference|find) "
        + SYMBOL,
        symbol,
    ),
    Rule(
        r"(?:who|what|which (?:code|files?|functions?|modules?)|find what|find who|show{me} (?:who|what)) "
        + USES
        + " "
        + SYMBOL,
        symbol,
    ),
    Rule(
        r"(?:(?:find|show|go to|jump to|list|look up|get){me} )?"
        r"{the}(?P<used>definitions?|declarations?|implementations?|usages?|uses|references|callers|calls) "
        r"(?:of|to|for) " + SYMBOL,
        symbol,
    ),
    Rule(r"is " + SYMBOL + r" (?P<used>used|called|imported|referenced) anywhere", symbol),
    Rule(r"(?:where is|where's|where are) " + SYMBOL, symbol),
]

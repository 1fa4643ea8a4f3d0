"""Rules for listing, reading, finding, outlining and searching files."""

from __future__ import annotations

import re

from accord.coder.offline.requests import (
    FindFiles,
    ListFiles,
    Outline,
    ReadFiles,
    Search,
    Step,
)
from accord.coder.offline.rules.rule import LANGUAGES, Parts, Reader, Rule

FILE_NAME = re.compile(
    r"[^\s()]+\.(?:py|md|txt|toml|json|ya?ml|js|jsx|tsx?|rs|go|c|h|cc|cpp|hpp|java|rb|sh"
    r"|html?|css|cfg|ini|lock|xml|csv|sql)",
    re.IGNORECASE,
)


def list_files(reader: Reader, parts: Parts) -> Step | None:
    where = reader.where(parts.get("f"))
    if where is None:
        return None
    if where.glob is not None:
        return FindFiles(pattern=anywhere(where.glob), path=where.path)
    if FILE_NAME.fullmatch(where.path):
        return None
    return ListFiles(path=where.path, depth=3 if parts.get("deep") else 1)


def outline(reader: Reader, parts: Parts) -> Step | None:
    where = reader.where(parts.get("f"))
    return Outline(path=where.path) if where and where.glob is None else None


def read(reader: Reader, parts: Parts) -> Step | None:
    text = parts["fs"] or ""
    if parts.get("loose") and not all(reader.is_pathlike(each) for each in re.split(r"\s*,\s*|\s+and\s+", text)):
        return None
    first, last = number(parts.get("a")), number(parts.get("b"))
    suffix = re.fullmatch(r"(.+?):(\d+)(?:-(\d+))?", text)
    if suffix and not reader.is_quoted(text):
        text, first, last = suffix[1], int(suffix[2]), number(suffix[3])
    paths = reader.paths(text)
    if not paths:
        return None
    if parts.get("tail"):
        return ReadFiles(paths=paths, tail=number(parts["tail"]))
    if parts.get("top"):
        return ReadFiles(paths=paths, first=1, last=number(parts["top"]))
    if first is not None and last is not None and last < first:
        first, last = last, first
    return ReadFiles(paths=paths, first=first, last=last if last is not None or parts.get("on") else first)


def number(text: str | None) -> int | None:
    return max(1, int(text[:9])) if text else None


def anywhere(pattern: str) -> str:
    """Make a pattern match in every directory, unless it names one."""
    return pattern if "/" in pattern else f"**/{pattern}"


def find_files(reader: Reader, parts: Parts) -> Step | None:
    where = reader.where(parts.get("where"))
    name = parts["f"] or ""
    value = reader.value(name) if reader.is_quoted(name) else (reader.path(name) or "")
    if where is None or where.glob or not value:
        return None
    if parts.get("ending"):
        value = value if value.startswith("*") else f"*{value}" if value.startswith(".") else f"*.{value}"
    elif parts.get("named") is not None and not re.search(r"[.*?/]", value):
        value = f"*{value}*"
    return FindFiles(pattern=anywhere(value), path=where.path)


def find_glob(reader: Reader, parts: Parts) -> Step | None:
    """Build `find *.py`, `find config.toml` or `find python files`, which look for names, not text."""
    name = (parts["f"] or "").lower()
    if name in LANGUAGES and parts.get("files"):
        return find_files(reader, {**parts, "f": LANGUAGES[name]})
    bare = reader.value(parts["f"] or "")
    if not re.search(r"[*?]", bare) and not (
        parts.get("find") and FILE_NAME.fullmatch(bare) and not reader.is_quoted(parts["f"])
    ):
        return None
    return find_files(reader, parts)


def search(reader: Reader, parts: Parts) -> Step | None:
    where = reader.where(parts.get("where"))
    text = parts["x"] or ""
    if where is None:
        return None
    span = reader.masked.span(text)
    value = reader.value(text) if span is None or span.kind != "file" else span.raw
    if not reader.is_quoted(text):
        value = value.rstrip(".,!?") or value
        if len(value.split()) > 6 or re.match(r"(?:and|or|out|how|why|a way|ways) ", value):
            return None  # a sentence, not something to look for
    regex = bool(parts.get("regex"))
    slashed = re.fullmatch(r"/(.+)/(i?)", value)
    if slashed and regex:
        value = slashed[1]
    if not value.strip():
        return None
    return Search(text=value, where=where, regex=regex, ignore_case=bool(parts.get("case")))


IN = r"(?: {in} (?P<f>.+?)| here)?"
WHERE = r"(?: (?:in|inside|within|under|across|throughout|through) (?P<where>.+?))?"
PROJECT = r"{the}(?:project|repo|repository|codebase|code base|workspace|code)"
FILES = (
    r"(?:files|file names|folders|directories|contents?|entries|tree)"
    r"(?: and (?:folders|directories|files|subfolders))?"
)
# `lines 10-20`, `from line 10 on`
TO = r"(?:-|–|—|\.\.|to|through|until|till|and)"
LINES = (
    r"(?:,? ?\(?(?:from |at )?lines? (?P<a>\d+)"
    rf"(?: ?{TO} ?(?:line )?(?P<b>\d+)|(?P<on> ?(?:on|onwards?|to (?:the )?end)))?\)?)?"
)
SHOW = r"(?:read|show|open|print|display|cat|view|see|look at){me}"
# `show` and `open` have many meanings, so the object must look like a file.
LOOSELY = (
    r"(?P<loose>show|open|print|display|view|see|get|look at|look into|let me see|take a look at"
    r"|what(?: is|'s) in|what does){me}"
)
SOME_FILES = (
    r"{the}(?:(?:contents?|text|source|source code|code) of )?{the}(?:attached )?(?:files? |script |module )?{fs}"
)
FIND = r"(?:find|search for|look for|locate|list|show|get|give){me}"
SEARCH = r"(?:search(?: for)?|grep(?: -\w+)*(?: for)?|look for|look up|find|scan for|where does it say|where do i find)"
PLACES = (
    r"(?: {the}(?:occurrences?|mentions?|instances?|places?|lines?|word|text|string|phrase)"
    r"(?: of| with| containing| that (?:say|contain)s?)?)?"
)
TEXT = r"{the}(?:word |text |string |phrase |code )?(?P<x>{q}|.+?)"
CASE = (
    r"(?P<case>,? \(?(?:ignoring|ignore|regardless of|without regard to) (?:the )?case\)?"
    r"|,? \(?case[- ]insensitive(?:ly)?\)?)?"
)

RULES = [
    # Outlines.
    Rule(r"(?:what(?: is|'s| are)|tell me what(?: is|'s)) (?:there )?(?:in|inside) " + PROJECT, outline),
    Rule(r"(?:(?:outline|summari[sz]e|describe|sketch|map) )" + PROJECT, outline),
    Rule(
        r"(?:(?:show|give|print|make|get){me} )?"
        r"{the}(?:outline|structure|overview|layout|architecture|table of contents)(?: (?:of|for) (?P<f>.+?))?",
        outline,
    ),
    Rule(
        r"(?:summari[sz]e|describe|show|outline|explain){me} "
        r"{the}(?:project |code |file )?(?:structure|layout|outline|architecture)(?: (?:of|for|in) (?P<f>.+?))?",
        outline,
    ),
    Rule(
        r"(?:what|which|list|show|find){me} "
        r"{the}(?:functions?|class(?:es)?|methods?|symbols?)(?: and (?:functions?|classes|methods))?"
        r"(?: are| is| does)?(?: there| defined| declared)? ?"
        r"(?:in|of|inside|from) (?P<f>.+?)(?: have| define| contain)?",
        outline,
    ),
    Rule(r"outline(?: of)?(?: (?P<f>.+?))?", outline),
    # Listings.
    Rule(
        r"(?:list|show|display|see|print|what are|which are|give|tell){me} "
        r"{the}(?:project'?s? |python |repo(?:sitory)? )?"
        + FILES
        + IN
        + r"(?P<deep>,? (?:recursively|with subfolders|in all folders))?",
        list_files,
    ),
    Rule(r"(?P<deep>recursively) (?:list|show) {the}" + FILES + IN, list_files),
    Rule(r"(?:what|which) files (?:are|do we have|exist|can you see)(?: there)?" + IN, list_files),
    Rule(r"what(?: is|'s| are)? (?:there )?(?:in|inside|under) {the}(?:folder |directory )(?P<f>.+?)", list_files),
    Rule(r"what(?: is|'s) (?:in|inside|under) (?P<f>[\w-]+|[\w/-]+/)(?: folder| directory)?", list_files),
    Rule(r"what(?: is|'s) (?:there )?(?:in|inside|under) (?P<f>\S+/)", list_files),
    Rule(r"(?:ls|dir|list|tree)(?: -\w+)*(?: (?P<f>{q}|[./~]\S*|\S+/\S*))?", list_files),
    Rule(r"list {the}(?:folder|directory) (?P<f>.+?)", list_files),
    # Files by name.
    Rule(
        FIND + r" {the}files? (?P<named>named|called|matching|like|(?:that|which) match(?:es)?"
        r"|with (?:the )?names?(?: like| matching)?) {f}" + WHERE,
        find_files,
    ),
    Rule(
        FIND + r" {the}files? (?P<ending>ending (?:in|with)|with (?:the )?(?:extension|suffix|ending)) {f}" + WHERE,
        find_files,
    ),
    Rule(
        r"(?:find|locate|search for|look for|where is|where's) {the}(?P<named>file )(?:named |called )?{f}" + WHERE,
        find_files,
    ),
    Rule(
        r"(?:(?P<find>find|locate|search for|look for)|list|show){me} {the}{f}(?P<files> files?)?" + WHERE,
        find_glob,
    ),
    # Text.
    Rule(
        r"(?:find|search(?: for)?|look for|grep(?: for)?|where are|are there) {the}(?:todos|todo comments|open todos)"
        + WHERE,
        lambda reader, parts: search(reader, {**parts, "x": "TODO"}),
    ),
    Rule(r"grep(?: -\w+)* (?P<x>{q}|\S+) (?!in )(?P<where>{q}|\S+)", search),
    Rule(
        r"(?:search|grep|look|find|scan)(?: {the}(?:code|project|files|repo|codebase|everywhere|everything))?"
        r"(?: for)? {the}(?P<regex>regex|regexp|regular expression|pattern) (?P<x>{q}|\S+)" + WHERE + CASE,
        search,
    ),
    Rule(r"(?:search|grep|look|scan) {in}? ?(?P<where>\S+|{q}) for " + TEXT + CASE, search),
    Rule(SEARCH + PLACES + " " + TEXT + WHERE + CASE, search),
    Rule(
        r"(?:which|what) files? (?:mention|contain|include|have|use)s? "
        r"{the}(?:word |text |string )?(?P<x>{q}|\S+)" + WHERE,
        search,
    ),
    # Reading files.
    Rule(SHOW + r" {the}(?:first|top) (?P<top>\d+) lines (?:of|in|from) {the}{file}{fs}", read),
    Rule(SHOW + r" {the}(?:last|bottom|final) (?P<tail>\d+) lines (?:of|in|from) {the}{file}{fs}", read),
    Rule(SHOW + rf" lines? (?P<a>\d+)(?: ?{TO} ?(?P<b>\d+))? (?:of|in|from) {{the}}{{file}}{{fs}}", read),
    Rule(r"head -n? ?(?P<top>\d+) {fs}", read),
    Rule(r"tail -n? ?(?P<tail>\d+) {fs}", read),
    Rule(r"(?:read|cat){me} " + SOME_FILES + LINES, read),
    Rule(LOOSELY + " " + SOME_FILES + r"(?: (?:say|contain))?" + LINES, read),
]

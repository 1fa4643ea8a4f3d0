"""Rules for changing files: replace, write, append, move and delete."""

from __future__ import annotations

import re
import shlex

from accord.coder.offline.requests import (
    Append,
    DeleteFiles,
    DescribeProject,
    MoveFile,
    Replace,
    Run,
    Step,
    Unclear,
    Where,
    WriteFile,
)
from accord.coder.offline.rules.rule import Parts, Reader, Rule

# A fenced block, possibly introduced by a few words and followed by thanks.
BLOCK = r"\s*(?:(?:this|it|the following|following)\b[^\n:]{0,20}:?)?\s*({mark})\s*(?:thanks|thank you|please)?[.!]?\s*"
SAY_WHERE = 'Say where: "in FILE", "in all *.py" or "everywhere".'


def replace(reader: Reader, parts: Parts) -> Step | None:
    old, new = reader.value(parts["old"] or ""), reader.value(parts["new"] or "")
    if not old or old == new:
        return (
            Unclear(words=f"Both sides of the replacement are `{old}`, so there is nothing to replace.")
            if old
            else None
        )
    everywhere = parts.get("everywhere") is not None
    if parts.get("where") is None and not everywhere:
        return Unclear(words=f"Where should I replace `{old}` with `{new}`? {SAY_WHERE}")
    where = Where() if everywhere else reader.where(parts["where"])
    return None if where is None else Replace(old=old, new=new, where=where, word=bool(parts.get("word")))


def rename_symbol(reader: Reader, parts: Parts) -> Step | None:
    """Build `rename the function a to b`, which replaces whole words only."""
    if parts.get("where") is None:
        parts = {**parts, "everywhere": ""}
    step = replace(reader, {**parts, "word": "word"})
    if isinstance(step, Replace) and not (re.fullmatch(r"[\w.]+", step.old) and re.fullmatch(r"[\w.]+", step.new)):
        return None
    return step


def remove_text(reader: Reader, parts: Parts) -> Step | None:
    where, old = reader.where(parts["where"]), reader.value(parts["old"] or "")
    return Replace(old=old, new="", where=where) if where and old else None


def move(reader: Reader, parts: Parts) -> Step | None:
    source, target = reader.path(parts["f"]), reader.path(parts["g"])
    if source is None or target is None:
        return None
    if not (parts.get("file") or reader.is_pathlike(parts["f"]) or reader.is_pathlike(parts["g"])):
        return Unclear(
            words=f"Is `{source}` a file or a name in the code? Say `rename the file {source} to {target}` or "
            f"`rename the function {source} to {target} everywhere`."
        )
    folder, _, name = source.rpartition("/")
    if parts.get("folder") or parts.get("after") or target.endswith("/"):
        target = f"{target.rstrip('/')}/{name}"
    elif folder and "/" not in target and (parts.get("verb") or "").lower() == "rename":
        target = f"{folder}/{target}"  # a new name, in the same place
    if source == target:
        return Unclear(words=f"`{source}` already has that name.")
    return MoveFile(source=source, target=target)


def delete(reader: Reader, parts: Parts) -> Step | None:
    paths = reader.paths(parts["fs"] or "")
    named = parts.get("file") or all(
        reader.is_pathlike(each) for each in re.split(r" ?, ?(?:and )?| and ", parts["fs"] or "")
    )
    if not named:
        return None
    if not paths or any(re.search(r"[*?]", path) for path in paths):
        return Unclear(words="I only delete files by name. Name each of them.") if paths else None
    return DeleteFiles(paths=paths)


def make_folder(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    return None if path is None else Run(command=f"mkdir -p {shlex.quote(path)}")


def write(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    if path is None or not (parts.get("file") or reader.is_pathlike(parts["f"])):
        return None
    new = (parts.get("verb") or "").lower() in ("create", "make", "generate", "add")
    content = body(reader, parts)
    if content is None and not parts.get("empty"):
        return Unclear(words=f"What should be in `{path}`? Add the content in quotes or in a fenced block.")
    return WriteFile(path=path, content=content or "", new=new)


def empty(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    if path is None or not (parts.get("file") or reader.is_pathlike(parts["f"])):
        return None
    if parts.get("empty") or parts.get("touch"):
        return WriteFile(path=path, content="")
    return write(reader, parts)


def append(reader: Reader, parts: Parts) -> Step | None:
    path, content = reader.path(parts["f"]), body(reader, parts)
    if path is None or content is None or not (reader.is_pathlike(parts["f"]) or parts.get("file")):
        return None
    return Append(path=path, content=content)


def body(reader: Reader, parts: Parts) -> str | None:
    """Return the content of a file (quoted text, a fenced block, or the rest of the words), with a final newline."""
    text = parts.get("body") or ""
    bare = text.strip().rstrip(".,!")
    if not bare:
        return None
    block = re.fullmatch(BLOCK.replace("{mark}", reader.masked.mark), text, re.IGNORECASE)
    fence = reader.masked.span(block[1]) if block else None
    if fence is not None and fence.kind == "fence":
        content = fence.value
    elif reader.is_quoted(bare):
        content = reader.value(bare)
    else:
        content = reader.masked.raw(text.lstrip(" \t").removeprefix("\n").rstrip())
    return content if not content or content.endswith("\n") else content + "\n"


def describe(reader: Reader, parts: Parts) -> Step | None:
    return DescribeProject()


# Replacing. The text to replace is literal: "the" in front of it is part of it.
PLACE = (
    r"(?: (?:in|inside|within|across|throughout|of|from) (?P<where>.+?)"
    r"| (?P<everywhere>everywhere(?: in .+)?|globally|in (?:all|every) files?))?"
)
ALL_OF = r"(?:(?:all |every |each |any |the )*(?:occurrences?|instances?|uses?|mentions?) of )?"
OLD = ALL_OF + r"(?:the (?:text|string|phrase|name|line) |(?:the )?(?P<word>(?:whole )?word ))?(?P<old>{q}|.+?)"
NEW = r"(?:the (?:word|text|string|phrase|name|line) )?(?P<new>{q}|.+?)"
BY = r" (?:with|by|for|to|→|->|=>) "
REPLACE = r"(?:replace|substitute|swap|exchange) "
NAME = (
    r"{the}(?:function|class|method|variable|symbol|constant|word|identifier|name|attribute|parameter|argument|field)"
)
# Writing.
FILE = r"{the}(?P<file>(?:file|script|module|document|page) )?(?:called |named |at )?{f}"
INTO = r"(?:to|at|onto|into|in) (?:{the}(?:end|bottom) of )?" + FILE
WITH = r",? (?:with|containing|having|(?:that|which) (?:says|contains|reads))"
FOLLOWING = r"(?: (?:{the}(?:following )?(?:contents?|text|lines?|code|words?)|following))?(?: of)?(?::|(?=\s|$))"

RULES = [
    Rule(
        r"(?:write|create|generate|make|update|add) {the}AGENTS\.md(?: file)?"
        r"(?: (?:from|with|based on|for|by|that) .+)?",
        describe,
    ),
    Rule(r"(?:initiali[sz]e|init)(?: {the}(?:project|AGENTS\.md))?", describe),
    # Text.
    Rule(
        r"rename " + NAME + r" (?P<old>{q}|[\w.]+)(?:\(\))? (?:to|as|into|with) (?P<new>{q}|[\w.]+)(?:\(\))?" + PLACE,
        rename_symbol,
    ),
    Rule(
        r"rename (?P<old>{q}|\w+) (?:to|as) (?P<new>{q}|\w+)"
        r"(?: (?P<everywhere>everywhere(?: in .+)?)| in (?P<where>.+?))",
        rename_symbol,
    ),
    Rule(REPLACE + OLD + BY + NEW + PLACE, replace),
    Rule("change " + OLD + r" (?:to|into|→|->|=>) " + NEW + PLACE, replace),
    Rule(r"in (?P<where>{q}|[^\s,]+),? (?:replace|change|substitute) " + OLD + BY + NEW, replace),
    Rule(
        r"(?P<everywhere>everywhere|in all files|globally),? (?:replace|change|substitute) " + OLD + BY + NEW,
        replace,
    ),
    Rule(
        r"(?:remove|delete|erase|strip|drop) " + ALL_OF + r"(?P<old>{q}) (?:from|in|out of) (?P<where>.+?)",
        remove_text,
    ),
    # Files.
    Rule(r"(?:create|make|add) {the}(?:folder|directory|dir) (?:called |named )?{f}", make_folder),
    Rule(r"mkdir(?: -p)? {f}", make_folder),
    Rule(
        r"(?P<verb>rename|move|mv) {the}(?P<file>(?:file|script|module|folder|directory) )?{f} "
        r"(?:to|into|as|onto|under) {the}(?P<folder>folder |directory )?(?:file )?(?P<g>{q}|[^\s,;]+)"
        r"(?P<after> folder| directory)?",
        move,
    ),
    Rule(r"mv {f} (?P<g>{q}|[^\s,;]+)", move),
    Rule(r"(?:delete|remove|erase|trash|unlink|get rid of) {the}(?P<file>(?:files?|script|module) )?{fs}", delete),
    Rule(r"(?P<touch>touch) {f}", empty),
    Rule(
        r"(?:create|make|add) (?:an? |the )?(?:new )?(?P<empty>empty |blank )?(?:text |new )?"
        r"(?P<file>file )?(?:called |named |at )?{f}",
        empty,
    ),
]

# The rest of the step is the literal content.
CONTENT_RULES = [
    Rule(
        r"(?P<verb>create|write|make|generate|overwrite|rewrite|save|add) {the}(?:new |empty |text |small |short )*"
        + FILE
        + f"(?:{WITH}{FOLLOWING}|:)",
        write,
        content=True,
        extent="lines",
    ),
    Rule(
        r"(?:set|replace|overwrite) the (?:whole )?(?:contents?|text) of {the}{file}{f} (?:to|with|by)" + FOLLOWING,
        write,
        content=True,
        extent="lines",
    ),
    Rule(
        r"(?:append|add) (?:{the}(?:following |line |lines |text )*)?" + INTO + ":",
        append,
        content=True,
        extent="lines",
    ),
    Rule(
        r"(?:append|add) to (?:{the}(?:end|bottom) of )?" + FILE + r"(?: {the}(?:following |line |lines |text )+)?:?",
        append,
        content=True,
        extent="lines",
    ),
]
# The content is in the middle of the pattern.
MIDDLE_RULES = [
    Rule(
        r"(?P<verb>write|put|save|store) {the}(?:following |text |line |words? |contents? )*(?P<body>{q}) "
        r"(?:to|into|in|as) " + FILE,
        write,
    ),
    Rule(
        r"(?P<verb>write|put|save|store) {the}(?:text|line|words?) (?P<body>.+?) (?:to|into|in|as) " + FILE,
        write,
    ),
    Rule(r"append (?:{the}(?:following|text|line|words?) )?(?P<body>{q}|.+?) " + INTO, append),
    Rule(r"add {the}(?:following |text |line |words? )*(?P<body>{q}) " + INTO, append),
    Rule(r"add {the}(?:text|line|words?) (?P<body>.+?) " + INTO, append),
]

"""The grammar of changing: replacing, writing, appending, moving, deleting."""

from __future__ import annotations

import re
import shlex

from accord.coder.models.offline.reading import Parts, Reader, Rule
from accord.coder.models.offline.requests import (
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

# A fenced block, with at most a word or two that point at it before, and thanks after.
BLOCK = r"\s*(?:(?:this|it|the following|following)\b[^\n:]{0,20}:?)?\s*({mark})\s*(?:thanks|thank you|please)?[.!]?\s*"
SAY_WHERE = 'Say where: "in FILE", "in all *.py" or "everywhere".'


def replace(reader: Reader, parts: Parts) -> Step | None:
    old, new = reader.value(parts["old"] or ""), reader.value(parts["new"] or "")
    if not old or old == new:
        return (
            Unclear(words=f"Both sides of the replacement are `{old}`: there is nothing to replace.") if old else None
        )
    everywhere = parts.get("everywhere") is not None
    if parts.get("where") is None and not everywhere:
        return Unclear(words=f"I would replace `{old}` with `{new}`, but not where. {SAY_WHERE}")
    where = Where() if everywhere else reader.where(parts["where"])
    return None if where is None else Replace(old=old, new=new, where=where, word=bool(parts.get("word")))


def rename_symbol(reader: Reader, parts: Parts) -> Step | None:
    """`rename the function a to b`: the word, wherever it stands as one."""
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
    if not (parts.get("file") or reader.pathlike(parts["f"]) or reader.pathlike(parts["g"])):
        return Unclear(
            words=f"Is `{source}` a file or a name in the code? Say `rename the file {source} to {target}` or "
            f"`rename the function {source} to {target} everywhere`."
        )
    folder, _, name = source.rpartition("/")
    if parts.get("folder") or target.endswith("/"):
        target = f"{target.rstrip('/')}/{name}"
    elif folder and "/" not in target and (parts.get("verb") or "").lower() == "rename":
        target = f"{folder}/{target}"  # a new name, in the same place
    if source == target:
        return Unclear(words=f"`{source}` is called that already.")
    return MoveFile(source=source, target=target)


def delete(reader: Reader, parts: Parts) -> Step | None:
    paths = reader.paths(parts["fs"] or "")
    named = parts.get("file") or all(
        reader.pathlike(each) for each in re.split(r" ?, ?(?:and )?| and ", parts["fs"] or "")
    )
    if not named:
        return None
    if not paths or any(re.search(r"[*?]", path) for path in paths):
        return Unclear(words="I delete files by their names, one by one. Name each of them.") if paths else None
    return DeleteFiles(paths=paths)


def make_folder(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    return None if path is None else Run(command=f"mkdir -p {shlex.quote(path)}")


def write(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    if path is None or not (parts.get("file") or reader.pathlike(parts["f"])):
        return None
    new = (parts.get("verb") or "").lower() in ("create", "make", "generate", "add")
    content = body(reader, parts)
    if content is None and not parts.get("empty"):
        return Unclear(words=f"What should be in `{path}`? Say it in quotes, or in a fenced block after the words.")
    return WriteFile(path=path, content=content or "", new=new)


def empty(reader: Reader, parts: Parts) -> Step | None:
    path = reader.path(parts["f"])
    if path is None or not (parts.get("file") or reader.pathlike(parts["f"])):
        return None
    if parts.get("empty") or parts.get("touch"):
        return WriteFile(path=path, content="")
    return write(reader, parts)


def append(reader: Reader, parts: Parts) -> Step | None:
    path, content = reader.path(parts["f"]), body(reader, parts)
    if path is None or content is None or not (reader.pathlike(parts["f"]) or parts.get("file")):
        return None
    return Append(path=path, content=content)


def body(reader: Reader, parts: Parts) -> str | None:
    """A file's content: what is quoted, what is in a fenced block, or the rest of the words. Ends with a line break."""
    text = parts.get("body") or ""
    bare = text.strip().rstrip(".,!")
    if not bare:
        return None
    block = re.fullmatch(BLOCK.replace("{mark}", reader.masked.mark), text, re.IGNORECASE)
    fence = reader.masked.span(block[1]) if block else None
    if fence is not None and fence.kind == "fence":
        content = fence.value
    elif reader.quoted(bare):
        content = reader.value(bare)
    else:
        content = reader.masked.raw(text.lstrip(" \t").removeprefix("\n").rstrip())
    return content if not content or content.endswith("\n") else content + "\n"


def describe(reader: Reader, parts: Parts) -> Step | None:
    return DescribeProject()


PLACE = (
    r"(?: (?:in|inside|within|across|throughout|of|from) (?P<where>.+?)| "
    r"(?P<everywhere>everywhere(?: in .+)?|globally|in (?:all|every) files?))?"
)
OF = r"(?:(?:occurrences?|instances?|uses?|mentions?) of )?(?:{the}(?:word|text|string|phrase|name|line) )?"
SIDE = r"(?:{q}|.+?)"
FOLLOWING = r"(?: (?:{the}(?:following )?(?:contents?|text|lines?|code|words?)|following))?(?: of)?(?::|(?=\s|$))"
INTO = r"(?:to|at|onto|into|in) (?:{the}(?:end|bottom) of )?{the}(?P<file>(?:file|script|module) )?"

RULES = [
    Rule(
        r"(?:write|create|generate|make|update|add) {the}AGENTS\.md(?: file)?(?: "
        r"(?:from|with|based on|for|by|that) .+)?",
        describe,
    ),
    Rule(r"(?:initiali[sz]e|init)(?: {the}(?:project|AGENTS\.md))?", describe),
    Rule(
        r"rename {the}(?:function|class|method|variable|symbol|constant|word|identifier|name"
        r"|attribute|parameter|argument|field) (?P<old>{q}|[\w.]+)(?:\(\))? "
        r"(?:to|as|into|with) (?P<new>{q}|[\w.]+)(?:\(\))?" + PLACE,
        rename_symbol,
    ),
    Rule(
        r"rename (?P<old>{q}|\w+) (?:to|as) (?P<new>{q}|\w+)(?: (?P<everywhere>everywhere"
        r"(?: in .+)?)| in (?P<where>.+?))",
        rename_symbol,
    ),
    Rule(
        r"(?:replace|substitute|swap|exchange) {the}"
        + OF
        + r"{the}(?P<word>whole word |word )?(?P<old>"
        + SIDE
        + r") (?:with|by|for|→|->|=>|to) (?:{the}(?:word|text|string) )?(?P<new>"
        + SIDE
        + ")"
        + PLACE,
        replace,
    ),
    Rule(r"change {the}" + OF + r"(?P<old>" + SIDE + r") (?:to|into|→|->|=>) (?P<new>" + SIDE + ")" + PLACE, replace),
    Rule(
        r"in (?P<where>{q}|[^\s,]+),? (?:replace|change|substitute) {the}"
        + OF
        + r"(?P<old>"
        + SIDE
        + r") (?:with|by|to|→|->|=>) (?P<new>"
        + SIDE
        + ")",
        replace,
    ),
    Rule(
        r"(?:everywhere|in all files|globally)(?P<everywhere>),? (?:replace|change|substitute) {the}"
        + OF
        + r"(?P<old>"
        + SIDE
        + r") (?:with|by|to|→|->|=>) (?P<new>"
        + SIDE
        + ")",
        replace,
    ),
    Rule(
        r"(?:remove|delete|erase|strip|drop) {the}" + OF + r"(?P<old>{q}) (?:from|in|out of) (?P<where>.+?)",
        remove_text,
    ),
    Rule(r"(?:create|make|add) {the}(?:folder|directory|dir) (?:called |named )?{f}", make_folder),
    Rule(r"mkdir(?: -p)? {f}", make_folder),
    Rule(
        r"(?P<verb>rename|move|mv) {the}(?P<file>"
        r"(?:file|script|module|folder|directory) )?{f} (?:to|into|as|onto|under) {the}"
        r"(?P<folder>folder |directory )?(?:file )?(?P<g>{q}|[^\s,;]+)"
        r"(?P<folder2> folder| directory)?",
        lambda reader, parts: move(reader, {**parts, "folder": parts.get("folder") or parts.get("folder2")}),
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

# The rest of the step is the content, as it stands.
CONTENT_RULES = [
    Rule(
        r"(?P<verb>create|write|make|generate|overwrite|rewrite|save|add) {the}"
        r"(?:new |empty |text |small |short )*(?P<file>"
        r"(?:file|script|module|document|page) )?(?:called |named |at )?{f}(?:,? "
        r"(?:with|containing|that (?:says|contains|reads)|which "
        r"(?:says|contains|reads)|having)" + FOLLOWING + r"|:)",
        write,
        content=True,
        free=True,
    ),
    Rule(
        r"(?:set|replace|overwrite) the (?:whole )?(?:contents?|text) of {the}{file}{f} (?:to|with|by)" + FOLLOWING,
        write,
        content=True,
        free=True,
    ),
    Rule(
        r"(?:append|add) (?:{the}(?:following |line |lines |text )*)?" + INTO + r"{f}:", append, content=True, free=True
    ),
    Rule(
        r"(?:append|add) to (?:{the}(?:end|bottom) of )?{the}(?P<file>"
        r"(?:file|script|module) )?{f}(?: {the}(?:following |line |lines |text )+)?:?",
        append,
        content=True,
        free=True,
    ),
]
# The content stands in the middle; what is around it is matched.
MIDDLE_RULES = [
    Rule(
        r"(?P<verb>write|put|save|store) {the}(?:following |text |line |words? |contents? )*"
        r"(?P<body>{q}) (?:to|into|in|as) {the}(?P<file>(?:file|script|module) )?"
        r"(?:called |named )?{f}",
        write,
    ),
    Rule(
        r"(?P<verb>write|put|save|store) {the}(?:text|line|words?) (?P<body>.+?) "
        r"(?:to|into|in|as) {the}(?P<file>(?:file|script|module) )?(?:called |named )?{f}",
        write,
    ),
    Rule(r"append (?:{the}(?:following|text|line|words?) )?(?P<body>{q}|.+?) " + INTO + "{f}", append),
    Rule(r"add {the}(?:following |text |line |words? )*(?P<body>{q}) " + INTO + "{f}", append),
    Rule(r"add {the}(?:text|line|words?) (?P<body>.+?) " + INTO + "{f}", append),
]

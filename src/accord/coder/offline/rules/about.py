"""Rules for questions about the project, its files and names."""

from __future__ import annotations

import re

from accord.coder.offline.requests import (
    CountFiles,
    CountLines,
    ExplainFile,
    ExplainName,
    ExplainProject,
    Run,
    Step,
    Talk,
    Unclear,
)
from accord.coder.offline.rules.navigation import IDENTIFIER
from accord.coder.offline.rules.rule import Parts, Reader, Rule, always

RECENT_COMMITS = "git log --oneline -15"
AUTHORS = "git shortlog --summary --numbered HEAD"
BRANCH = "git branch --show-current"


def explain(reader: Reader, parts: Parts) -> Step | None:
    """Explain a file, or a name that looks like one of the project's."""
    text = parts["f"] or ""
    if reader.is_pathlike(text):
        path = reader.path(text)
        return ExplainFile(path=path) if path else None
    name = reader.value(text).rstrip("?.!,").removesuffix("()")
    looks_like_code = bool(re.search(r"[_A-Z]", name)) or text.rstrip("?.!,").endswith("()")
    return ExplainName(name=name) if looks_like_code and IDENTIFIER.fullmatch(name) else None


def count_lines(reader: Reader, parts: Parts) -> Step | None:
    paths = reader.paths(parts["fs"] or "")
    return CountLines(paths=paths) if paths else None


def count_files(reader: Reader, parts: Parts) -> Step | None:
    where = reader.where(parts.get("f"))
    kind = reader.where(parts["kind"]) if parts.get("kind") else None
    if where is None or where.glob is not None or (parts.get("kind") and (kind is None or kind.glob is None)):
        return None
    return CountFiles(path=where.path, glob=kind.glob if kind else None)


def commit(reader: Reader, parts: Parts) -> Step | None:
    text = (parts.get("m") or "").strip()
    message = reader.value(text) if reader.is_quoted(text) else ""
    if not message.strip() or "\n" in message:
        return Unclear(words='With which message? For example: `commit with the message "Fix the total"`.')
    quoted = "'" + message.replace("'", "'\\''") + "'"
    return Run(command=f"git add --all && git commit -m {quoted}")


PROJECT = (
    r"(?:(?:this|the|my|our) )?"
    r"(?:project|repo|repository|codebase|code base|code|program|app|application|library|package)"
)
THING = r"(?P<f>{q}|\S+)"
OF_A_FILE = r"{the}(?:file |module |script |class |function |method )?" + THING

# Before the rules for reading: "what does x.py do?" is not "what does x.py say?".
RULES = [
    Rule(
        rf"(?:what|which)(?: (?:is|are|does|'s)|'s)? {PROJECT}(?: (?:do|does|about|for|all about|good for))*",
        always(ExplainProject()),
    ),
    Rule(r"what(?: is|'s) (?:this|it|here|all this)(?: (?:about|for))?", always(ExplainProject())),
    Rule(
        r"(?:explain|describe|introduce|summari[sz]e|tell{me} (?:more )?about|walk{me} through"
        r"|give{me} (?:an? )?(?:overview|summary|introduction|tour|description) (?:of|to)|overview of){me} "
        rf"{PROJECT}(?: to me)?",
        always(ExplainProject()),
    ),
    Rule(
        r"(?:what|which) (?:programming )?languages? (?:is|are|does|do|was|were)(?: it| they)?(?: {the}\w+)?"
        r"(?: (?:written|made|coded|implemented|programmed)(?: in)?| in| use| used(?: here)?)?",
        always(ExplainProject()),
    ),
    Rule(
        r"(?:explain|describe|summari[sz]e|tell{me} (?:more )?about|what is|what's){me} " + OF_A_FILE + r"(?: to me)?",
        explain,
    ),
    Rule(r"(?:explain|describe) (?:this|it)(?: to me)?", always(ExplainProject())),
    Rule(
        r"how (?:do|can|should|would) (?:i|we|you) (?:run|start|launch|use|install|build|set up|try)"
        rf" (?:it|this|{PROJECT})",
        always(ExplainProject()),
    ),
    Rule(r"where (?:do|should|can) i (?:start|begin)", always(ExplainProject())),
    Rule(
        r"(?:(?:what|which|show|list){me} (?:are )?)?{the}(?:dependencies|requirements)"
        rf"(?: (?:are there|do we have|of {PROJECT}|does {PROJECT} (?:have|need|use)|does it (?:have|need|use)))?",
        always(ExplainProject()),
    ),
    Rule(rf"(?:what|which packages) does (?:it|this|{PROJECT}) (?:depend on|need|require)", always(ExplainProject())),
    Rule(rf"how (?:big|large|long) (?:is|'s) (?:it|this|{PROJECT})", always(CountFiles())),
    Rule(
        rf"who (?:wrote|made|created|works on|maintains|has worked on) (?:it|this|{PROJECT})"
        rf"|who (?:is|are) {{the}}(?:authors?|contributors?|maintainers?)(?: of (?:it|this|{PROJECT}))?",
        always(Run(command=AUTHORS)),
    ),
    Rule(
        r"(?:what|which) branch (?:am i on|is this|are we on|is checked out)|(?:what(?: is|'s) )?{the}branch",
        always(Run(command=BRANCH)),
    ),
    Rule(r"(?:what|how) (?:does|do) " + OF_A_FILE + r" (?:do|work)(?: exactly)?", explain),
    Rule(r"what(?: is|'s) " + OF_A_FILE + r" (?:for|about|good for)", explain),
    Rule(
        r"how (?:many lines|long|big)(?: of code)?(?: are| is| does)?(?: there)?(?: in| of)? {the}{file}{fs}"
        r"(?: have| has)?",
        count_lines,
    ),
    Rule(r"count {the}lines (?:in|of) {the}{file}{fs}", count_lines),
    Rule(
        r"(?:how many|count|number of) {the}(?:(?P<kind>\w+|{q}) )?files?"
        r"(?: are| is| do we have| does it have| have we)?(?: there)?(?: {in} (?P<f>.+?)| here)?",
        count_files,
    ),
    Rule(
        r"(?:(?:show|list|what are|give|get){me} )?{the}(?:last |latest |recent |git )*"
        r"(?:commits?|commit history|git log|history)"
        r"(?: (?:of|in|for) .{1,40})?",
        always(Run(command=RECENT_COMMITS)),
    ),
    Rule(r"what happened(?: recently| lately| last)?(?: here)?", always(Run(command=RECENT_COMMITS))),
    Rule(
        r"(?:git )?commit(?: {the}(?:changes?|work|files?|everything|it|this))?"
        r"(?:(?: with| using)? {the}(?:commit )?message:? (?P<m>{q}|.+))?",
        commit,
    ),
    Rule(
        r"(?:undo|revert|roll ?back)(?: (?:it|this|that|everything"
        r"|{the}(?:last |previous |latest )?(?:changes?|edits?|turn|step)))?",
        always(Talk(about="undo")),
    ),
    Rule(r"(?:exit|quit|bye|goodbye|good bye|leave|close|see you|:q!?|logout)", always(Talk(about="leave"))),
]

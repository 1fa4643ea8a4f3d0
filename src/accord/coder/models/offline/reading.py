"""How one step of a message is read: what a rule is, and what its parts stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from accord.coder.models.offline.requests import Step, Where
from accord.coder.models.offline.words import Masked
from accord.model.noun import Noun

HEAD = 800
"""How much of a step the rules look at, in characters. What is longer is content, or no request."""

LANGUAGES = {
    "python": "*.py",
    "markdown": "*.md",
    "javascript": "*.js",
    "typescript": "*.ts",
    "rust": "*.rs",
    "go": "*.go",
    "java": "*.java",
    "ruby": "*.rb",
    "c": "*.c",
    "c++": "*.cpp",
    "html": "*.html",
    "css": "*.css",
    "toml": "*.toml",
    "yaml": "*.y*ml",
    "json": "*.json",
    "text": "*.txt",
    "shell": "*.sh",
}
PRONOUNS = {"it", "this", "that", "them", "these", "those", "there"}
NOT_PATHS = PRONOUNS | {
    *(
        "a",
        "an",
        "the",
        "all",
        "any",
        "everything",
        "nothing",
        "something",
        "anything",
        "and",
        "or",
        "to",
        "me",
        "how",
        "why",
    ),
    *(
        "file",
        "files",
        "folder",
        "folders",
        "directory",
        "code",
        "lines",
        "line",
        "what",
        "who",
        "here",
        "which",
        "more",
    ),
    *("error", "errors", "bug", "bugs", "function", "class", "everywhere"),
}
WELL_KNOWN = {
    "makefile",
    "dockerfile",
    "readme",
    "license",
    "changelog",
    "justfile",
    "gemfile",
    "procfile",
    "notice",
    "authors",
}
ALL = re.compile(
    r"(?:everywhere|anywhere|here|(?:"
    r"(?:the|this|my|our|all|all the|every|each|whole|entire|any|current|of|working)\s+)*"
    r"(?:files?|project|repo|repository|code|codebase|code base|workspace|folder|directory|tree|sources?|\.))",
    re.IGNORECASE,
)
ARTICLES = re.compile(r"(?:(?:the|a|an|my|our|your|all|all of|any|every|each|of|both)\s+)+", re.IGNORECASE)

# Before a request: passed over.
BEFORE = re.compile(
    r"(?:(?:please|pls|kindly|could you|can you|would you|will you|can i|could i|may i|i want you to|i'd like you to|"
    r"i would like you to|i want to|i'd like to|i would like to|i need you to|i need to"
    r"|you should|now|first|firstly|next|"
    r"finally|lastly|also|just|then|and|so|ok|okay|hey|hi|hello|well|let's|let us|let me"
    r"|go ahead and|help me|quickly|"
    r"accord|agent|do|try to|secondly|thirdly|afterwards|after that)(?:[,:!]\s*|\s+))",
    re.IGNORECASE,
)
MOST_POLITE = 6
"""How many words of politeness a request may begin with."""


class Context(Noun):
    """What the words of a message may point at."""

    attached: list[str] = []
    """The paths of the files that came with the prompt."""
    last: str | None = None
    """The file that was spoken of last."""


class Reader:
    """Reads the parts of one message."""

    def __init__(self, masked: Masked, context: Context) -> None:
        self.masked = masked
        self.context = context

    def quoted(self, text: str | None) -> bool:
        return text is not None and self.masked.span(text) is not None

    def value(self, text: str) -> str:
        """A text: without its quotation marks, when it is all in them."""
        return self.masked.value(text.strip())

    def path(self, text: str | None) -> str | None:
        """A file or folder; None when the words name none. "it" and "this" stand for what was attached or spoken of."""
        if text is None:
            return None
        if self.quoted(text):
            return self.value(text).strip() or None
        bare = self.masked.raw(text.strip())
        bare = bare.rstrip(",;:!?") or bare
        if bare.endswith(".") and bare.strip("./\\"):
            bare = bare.rstrip(".")
        if bare.lower() in PRONOUNS:
            return self.context.attached[0] if self.context.attached else self.context.last
        return None if not bare or bare.lower() in NOT_PATHS else bare

    def paths(self, text: str) -> list[str]:
        """Several files, joined by commas and "and"; nothing unless each is one."""
        if text.strip().lower() in PRONOUNS and self.context.attached:
            return list(self.context.attached)
        names = [self.path(each) for each in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text.strip()) if each]
        whole = [name for name in names if name]
        return whole if len(whole) == len(names) else []

    def pathlike(self, text: str | None) -> bool:
        """Whether this can only mean a file: quoted, with a dot or a slash in it, or a name that everybody knows."""
        if text is None:
            return False
        bare = self.masked.raw(text.strip()).rstrip(".,;:!?")
        return (
            self.quoted(text)
            or bare.lower() in PRONOUNS
            or bare.lower() in WELL_KNOWN
            or bool(re.search(r"[./\\~]", bare))
        )

    def where(self, text: str | None) -> Where | None:
        """A part of the project, from the words after "in"; all of it when there are none."""
        if text is None:
            return Where()
        if ALL.fullmatch(text.strip()):
            return Where()
        text = re.sub(r"\s+(?:folder|directory|files?|please)$", "", text.strip().rstrip(".,;:!?"), flags=re.IGNORECASE)
        if not text or ALL.fullmatch(text):
            return Where()
        inside = re.fullmatch(r"(.+?)\s+(?:files\s+)?(?:in|under|inside|of)\s+(.+)", text)
        if inside and (inner := self.where(inside[1])) and (outer := self.where(inside[2])) and inner.glob:
            return Where(path=outer.path, glob=inner.glob)
        text = re.sub(
            r"^(?:the\s+)?(?:files?|folder|directory|module)\s+(?=\S)",
            "",
            ARTICLES.sub("", text, count=1),
            flags=re.IGNORECASE,
        )
        if text.lower() in LANGUAGES and not self.quoted(text):
            return Where(glob=LANGUAGES[text.lower()])
        path = self.path(text) if " " not in text else None
        if path is None:
            return None
        if re.search(r"[*?]", path):
            folder, _, name = path.rpartition("/")
            if folder and not re.search(r"[*?\[]", folder):
                return Where(path=folder, glob=name)
            return Where(glob=path)
        return Where(path=path)


Parts = dict[str, "str | None"]
Build = Callable[[Reader, Parts], "Step | None"]


class Rule:
    """One way to ask for something: a pattern, and what is made of its parts."""

    def __init__(self, pattern: str, build: Build, *, content: bool = False, free: bool = False) -> None:
        self.pattern = pattern
        self.build = build
        self.content = content
        """Whether the end of the step is taken as it is: line breaks, trailing words and all."""
        self.free = free
        """Whether its last part may be any words at all: then what follows may belong to it."""


def said(step: Any) -> Any:
    """A rule's outcome that depends on none of its parts."""
    return lambda reader, parts: step


# What patterns are made of. A pattern is matched against a step whose white space is single spaces.
MACROS = {
    "the": r"(?:(?:the|an?|my|our|your|this|that|these|all|all of|any|every|each|some|whole|entire|new|current) )*",
    "f": r"(?P<f>{q}|[^\s,;]+)",
    "fs": r"(?P<fs>(?:{q}|[^\s,;]+)(?:(?: ?, ?(?:and )?| and )(?:{q}|[^\s,;]+))*)",
    "in": r"(?:in|inside|into|within|under|across|from|throughout|through|over|of|at|on)",
    "file": r"(?:(?:file|script|module|document|folder|directory) )?",
    "me": r"(?: me| us)?",
}


@lru_cache(maxsize=2000)
def compiled(rule: Rule, mark: str) -> re.Pattern[str]:
    pattern = rule.pattern
    for name, macro in MACROS.items():
        pattern = pattern.replace("{" + name + "}", macro)
    if rule.content:  # here the white space is as the user wrote it
        pattern = pattern.replace(" ", "[ \\t]+")
    return re.compile(pattern.replace("{q}", mark), re.IGNORECASE | re.DOTALL)

"""A rule of the grammar, and `Reader`, which interprets the parts that a rule matched."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

from accord.coder.offline.message import Masked
from accord.coder.offline.requests import Step, Where
from accord.model.record import Record

HEAD = 800
"""Number of characters that rules look at. Longer text is content, or not a request."""

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

# Ignored before a request.
BEFORE = re.compile(
    r"(?:(?:please|pls|kindly|could you|can you|would you|will you|can i|could i|may i|i want you to|i'd like you to|"
    r"i would like you to|i want to|i'd like to|i would like to|i need you to|i need to"
    r"|you should|now|first|firstly|next|"
    r"finally|lastly|also|just|then|and|so|ok|okay|hey|hi|hello|well|let's|let us|let me"
    r"|go ahead and|help me|quickly|"
    r"accord|agent|do|try to|secondly|thirdly|afterwards|after that)(?:[,:!]\s*|\s+))",
    re.IGNORECASE,
)
MAX_POLITE_WORDS = 6
"""Maximum number of polite phrases before a request."""


class Context(Record):
    """The files that words such as "it" and "this" refer to."""

    attached: list[str] = []
    """The paths of the files attached to the prompt."""
    last: str | None = None
    """The file that was mentioned last."""


class Reader:
    """Interprets the parts of one message."""

    def __init__(self, masked: Masked, context: Context) -> None:
        self.masked = masked
        self.context = context

    def is_quoted(self, text: str | None) -> bool:
        return text is not None and self.masked.span(text) is not None

    def value(self, text: str) -> str:
        """Return a text, without quotation marks if all of it is quoted."""
        return self.masked.value(text.strip())

    def path(self, text: str | None) -> str | None:
        """Return the file or directory that a text names, if any. "it" refers to attached or mentioned files."""
        if text is None:
            return None
        if self.is_quoted(text):
            return self.value(text).strip() or None
        bare = self.masked.raw(text.strip())
        bare = bare.rstrip(",;:!?") or bare
        if bare.endswith(".") and bare.strip("./\\"):
            bare = bare.rstrip(".")
        if bare.lower() in PRONOUNS:
            return self.context.attached[0] if self.context.attached else self.context.last
        return None if not bare or bare.lower() in NOT_PATHS else bare

    def paths(self, text: str) -> list[str]:
        """Parse files joined by commas and "and"; return nothing unless all are files."""
        if text.strip().lower() in PRONOUNS and self.context.attached:
            return list(self.context.attached)
        names = [self.path(each) for each in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text.strip()) if each]
        whole = [name for name in names if name]
        return whole if len(whole) == len(names) else []

    def is_pathlike(self, text: str | None) -> bool:
        """Return whether a text must be a file: it's quoted, contains a dot or a slash, or is a well-known name."""
        if text is None:
            return False
        bare = self.masked.raw(text.strip()).rstrip(".,;:!?")
        return (
            self.is_quoted(text)
            or bare.lower() in PRONOUNS
            or bare.lower() in WELL_KNOWN
            or bool(re.search(r"[./\\~]", bare))
        )

    def where(self, text: str | None) -> Where | None:
        """Parse the words after "in" as a part of the project; without words, it's all of it."""
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
        if text.lower() in LANGUAGES and not self.is_quoted(text):
            return Where(glob=LANGUAGES[text.lower()])
        path = self.path(text) if " " not in text else None
        if path is None:
            return None
        if re.search(r"[*?]", path):
            directory, _, name = path.rpartition("/")
            if directory and not re.search(r"[*?\[]", directory):
                return Where(path=directory, glob=name)
            return Where(glob=path)
        return Where(path=path)


Parts = dict[str, "str | None"]
Build = Callable[[Reader, Parts], "Step | None"]
Extent = Literal["step", "lines", "message"]


class Rule:
    """One way to phrase a request: a pattern, and a function that builds the request from its groups."""

    def __init__(self, pattern: str, build: Build, *, content: bool = False, extent: Extent = "step") -> None:
        self.pattern = pattern
        self.build = build
        self.content = content
        """Whether the rest of the step is literal content, including line breaks and polite words."""
        self.extent = extent
        """How far unquoted content reaches: to the end of the step, of the lines that follow, or of the message."""


def always(step: Any) -> Any:
    """Return a builder that ignores the groups of its rule."""
    return lambda reader, parts: step


# Macros for patterns. Unless a rule has `content`, the step's whitespace is normalized to single spaces.
MACROS = {
    "the": r"(?:(?:the|an?|my|our|your|this|that|these|all|all of|any|every|each|some|whole|entire|new|current) )*",
    "f": r"(?P<f>{q}|[^\s,;]+)",
    "fs": r"(?P<fs>(?:{q}|[^\s,;]+)(?:(?: ?, ?(?:and )?| and )(?:{q}|[^\s,;]+))*)",
    "in": r"(?:in|inside|into|within|under|across|from|throughout|through|over|of|at|on)",
    "file": r"(?:(?:file|script|module|document|folder|directory) )?",
    "me": r"(?: me| us)?",
}


@lru_cache(maxsize=2000)
def compile_rule(rule: Rule, mark: str) -> re.Pattern[str]:
    pattern = rule.pattern
    for name, macro in MACROS.items():
        pattern = pattern.replace("{" + name + "}", macro)
    if rule.content:  # whitespace is as the user wrote it
        pattern = pattern.replace(" ", "[ \\t]+")
    return re.compile(pattern.replace("{q}", mark), re.IGNORECASE | re.DOTALL)

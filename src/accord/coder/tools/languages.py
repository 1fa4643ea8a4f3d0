"""How definitions look in languages that are not parsed: patterns for one line each, by the ends of file names."""

from __future__ import annotations

import os
import re

NOT_NAMES = frozenset({"if", "for", "while", "switch", "catch", "function", "return", "else", "with"})
"""What a pattern may take for a name and is none."""

_JAVASCRIPT = (
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:class|function\s*\*?|interface|type|enum|namespace|module)\s+(?P<name>[\w$]+)",
    r"\s*(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=]{0,200})?=\s*"
    r"(?:async\s*)?(?:function\b|\([^)]{0,300}\)[^=]{0,100}=>|[\w$]+\s*=>)",
    r"export\s+(?:const|let|var)\s+(?P<name>[\w$]+)",
    r"\s+(?:(?:public|private|protected|static|async|get|set|readonly|override)\s+)*[*#]?(?P<name>[\w$]+)"
    r"\s*\([^;]{0,300}\)[^;{]{0,100}\{$",
)
_JVM = (
    r"\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|data|partial|async|virtual|"
    r"inline|suspend|mutating|fileprivate|@\w+)\s+)*(?:class|interface|enum(?:\s+class)?|record|struct|object|protocol|"
    r"extension|trait|namespace|fun|func|def|typealias|mixin)\s+(?:<[^>]{0,80}>\s*)?(?P<name>[\w.]+)",
    r"\s+(?:(?:public|private|protected|static|final|abstract|synchronized|override|virtual|async|internal)\s+)+"
    r"[\w<>\[\],.? ]{1,80}\s(?P<name>\w+)\s*\(",
)
_C = (
    r"\s*(?:typedef\s+)?(?:template\s*<[^>]{0,80}>\s*)?(?:class|struct|enum(?:\s+class)?|union|namespace)\s+(?P<name>\w+)"
    r"(?=[^;()]*$)",
    r"#\s*define\s+(?P<name>\w+)",
    r"[A-Za-z_][\w\s*&:<>,]{0,120}[\s*&](?P<name>~?\w+(?:::~?\w+)*)\s*\([^;]*$",
)
_GENERIC = (
    r"\s*(?:(?:pub|public|private|protected|static|export|async|local|abstract|final)\s+)*"
    r"(?:class|interface|struct|enum|trait|module|namespace|func|function|fn|def|sub|proc|procedure|type|message|service|"
    r"rpc)\s+(?P<name>[A-Za-z_][\w$?!]*(?:(?:\.|::)[\w$]+)*)",
)
_TABLE: dict[str, tuple[str, ...]] = {
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte": _JAVASCRIPT,
    ".go": (r"func\s+(?:\([^)]{0,120}\)\s*)?(?P<name>\w+)", r"(?:type|var|const)\s+(?P<name>\w+)"),
    ".rs": (
        r"\s*(?:pub(?:\([^)]{0,60}\))?\s+)?(?:(?:default|async|unsafe|const|extern(?:\s+\"[^\"]{0,20}\")?)\s+)*"
        r"(?:fn|struct|enum|trait|mod|type|union|macro_rules!|static|const)\s+(?P<name>\w+)",
        r"(?:unsafe\s+)?impl\b(?P<name>[^{]{1,200})",
    ),
    ".java .kt .kts .cs .swift .scala .groovy .dart": _JVM,
    ".c .h .cc .cpp .cxx .hpp .hh .hxx .m .mm": _C,
    ".rb .rake": (r"\s*(?:class|module|def)\s+(?P<name>[\w.:?!]+)",),
    ".php": (
        r"\s*(?:(?:abstract|final|public|private|protected|static)\s+)*"
        r"(?:class|interface|trait|enum|function|namespace)\s+&?(?P<name>[\w\\]+)",
    ),
    ".sh .bash .zsh": (r"\s*function\s+(?P<name>[\w:.-]+)", r"\s*(?P<name>[\w:.-]+)\s*\(\)"),
    ".lua": (r"\s*(?:local\s+)?function\s+(?P<name>[\w.:]+)",),
    ".ex .exs": (r"\s*(?:defmodule|defp?|defmacrop?|defstruct|defprotocol)\s+(?P<name>[\w.?!]+)",),
    ".sql": (
        r"(?i)\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unique\s+)?"
        r"(?:table|view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`]+)",
    ),
    ".md .markdown": (r"#{1,6}\s+(?P<name>.+)",),
    ".rst": (r"\.\.\s+(?P<name>[\w-]+::.*)",),
    ".toml .ini .cfg .conf": (r"\[+(?P<name>[^\]]+)\]+\s*$",),
    ".yaml .yml": (r"(?P<name>[\w.\"'-]+)\s*:(?:\s|$)",),
    ".json": (r" {2}\"(?P<name>[^\"]+)\"\s*:",),
    ".mk Makefile makefile GNUmakefile": (r"(?P<name>[\w./%-]+)\s*:(?![=:])",),
    "Dockerfile": (r"(?i)FROM\s+(?P<name>.+)",),
    ".proto .graphql .gql .thrift": (
        r"\s*(?:message|service|rpc|enum|type|input|interface|union|scalar|struct|directive)\s+@?(?P<name>\w+)",
    ),
}
_COMPILED = {end: tuple(map(re.compile, patterns)) for ends, patterns in _TABLE.items() for end in ends.split()}
_OTHERS = tuple(map(re.compile, _GENERIC))
NO_DEFINITIONS = frozenset({".md", ".markdown", ".rst", ".toml", ".ini", ".cfg", ".conf", ".yaml", ".yml", ".json"})
"""What has an outline and defines nothing that code could use."""


def patterns_for(path: str) -> tuple[re.Pattern[str], ...]:
    """The patterns for a file."""
    name = os.path.basename(path)
    return _COMPILED.get(name) or _COMPILED.get(os.path.splitext(name)[1].lower()) or _OTHERS

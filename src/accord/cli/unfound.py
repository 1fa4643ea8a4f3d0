"""What a prompt seems to name with `@`, and is not there: it is sent as a word, which its author may want to know.

Much that is behind an `@` is no file and not meant to be one: people, decorators, packages. Only what is written like a
path counts, outside of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from accord.cli.attach import TRAILING, all_named

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = re.compile(r"(?<!\S)@(\"[^\"\n]+\"|'[^'\n]+'|\S+)")
_LINES = re.compile(r":\d{1,9}(?:-\d{1,9})?\Z")
_NO_NAME = re.compile(r"[\x00-\x1f(){}\[\]<>=|*?\"'`\\@]|://")
_MOST = 20
_MOST_LETTERS = 400
_ENDING = re.compile(
    r"adoc|bash|bat|bmp|cc?|cfg|[cm]js|clj|cmake|conf|cpp|cs|css|csv|cxx|dart|diff|docx?|env|exs|fish|gif|go|gradle|graphql|"
    r"h|hcl|hpp|hs|html?|ico|ini|ipynb|java|jpe?g|js|jsonc?|jsonl|jsx|kts?|less|lock|log|lua|markdown|mdx?|mk|ml|mm|nix|"
    r"odt|org|patch|pdf|php|pl|plist|png|pptx|properties|proto|ps1|pyi?|pyx|rb|rs|rst|sass|scala|scss|sh|sql|svelte|svg|"
    r"swift|tex|tf|toml|tsv|tsx?|txt|vim|vue|wasm|webp|xlsx|xml|xsd|ya?ml|zig|zip|zsh",
    re.IGNORECASE,
)
"""What the names of files end with. Anything else behind a dot may be a part of a program as well: `@app.route`."""


def unfound(text: str, cwd: Path) -> list[str]:
    """The words of a text that are written like the path of a file behind an `@`, and name none; each once."""
    return list(dict.fromkeys(_unfound(_CODE.sub(" ` ", text), cwd)))[:_MOST]


def _unfound(text: str, cwd: Path) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[1]
        quoted = word[0] in "\"'" and word[-1] == word[0] and len(word) > 1
        name = _LINES.sub("", word[1:-1] if quoted else word.rstrip(TRAILING))
        if _is_path(name, cwd) and not any(all_named(found[0], cwd)):
            yield name


def _is_path(name: str, cwd: Path) -> bool:
    """Whether a name is written like a path. Packages and teams have a slash in their names, too: without
    an ending, there has to be the folder that it begins with."""
    if not name or len(name) > _MOST_LETTERS or _NO_NAME.search(name) is not None:
        return False
    first, slash, _ = name.partition("/")
    last = name.rstrip("/").rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    if dot and (_ENDING.fullmatch(ending) is not None or (not stem and ending.isalpha())):
        return True
    try:
        return bool(slash) and (first in ("", ".", "..") or first.startswith("~") or (cwd / first).is_dir())
    except (OSError, ValueError):
        return False

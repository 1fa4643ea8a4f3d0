"""The YAML front matter of Markdown files for agents: commands and skills.

Only what these files use is read: keys with a text, which may be quoted, folded (`>`) or literal (`|`), and lists of
texts. Anything else is ignored, so a file made for another agent is never an error."""

from __future__ import annotations

import re

_HEAD = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
_BLOCK = re.compile(r"([|>])[-+0-9]{0,2}(?:[ \t]+#.*)?\Z")
_COMMENT = re.compile(r"(?:\A|[ \t]+)#.*\Z")
_ESCAPE = re.compile(r'\\(["\\/nt])')
_ESCAPED = {"n": "\n", "t": "\t"}


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a text's front matter, and the text after it. Items of a list are separated by spaces."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    head = _HEAD.match(text)
    if head is None:
        return {}, text.strip()
    return _parse((head[1] or "").split("\n")), text[head.end() :].strip()


def _parse(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    index = 0
    while index < len(lines):
        field = _FIELD.match(lines[index].rstrip())
        index += 1
        if field is None:
            continue
        nested: list[str] = []
        while index < len(lines) and (not lines[index].strip() or lines[index][0] in " \t-"):
            nested.append(lines[index])
            index += 1
        fields[field[1]] = _value((field[2] or "").strip(), nested)
    return fields


def _value(first: str, nested: list[str]) -> str:
    """Return the value of a field: the rest of its line, and the indented lines after it."""
    if block := _BLOCK.match(first):
        texts = [line.strip() for line in nested]
        return "\n".join(texts).strip() if block[1] == "|" else _fold(texts)
    if not first and any(line.lstrip().startswith("- ") for line in nested):
        return " ".join(_unquote(line.strip().removeprefix("- ")) for line in nested if line.strip())
    if first[:1] == "[" and first[-1:] == "]":
        return " ".join(_unquote(item) for item in first[1:-1].split(","))
    return _unquote(_fold([first, *(line.strip() for line in nested)]))


def _fold(lines: list[str]) -> str:
    return " ".join(line for line in lines if line)


def _unquote(text: str) -> str:
    text = text.strip()
    if text[:1] == '"' and (end := re.search(r'(?<!\\)"', text[1:])):
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text[1 : end.start() + 1])
    if text[:1] == "'" and (last := text.rfind("'")) > 0:
        return text[1:last].replace("''", "'")
    return _COMMENT.sub("", text).strip()

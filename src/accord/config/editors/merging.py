"""Puts one agent into an editor's settings, a change to the text and to nothing else of it.

What was changed is read again and compared with what was wanted; if they differ in anything, there is no change."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from accord.config.editors.jsonc import Document, Member, Node, read
from accord.errors import ConfigError

BOM = "\ufeff"


class Merged(NamedTuple):
    """What became of a text."""

    text: str
    replaced: Any | None = None
    """What stood under the same name before, when it was something else."""


def merge(text: str, key: str, name: str, entry: dict[str, Any], new: dict[str, Any]) -> Merged:
    """The text with an agent in it. `ConfigError` says why that cannot be; `new` is for a text without anything."""
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    before = read(text)
    style = _style(text, before)
    if before.root is None:
        head = text.rstrip() + style.newline if text.strip() else ""  # comments alone
        return Merged(bom + head + style.write({**new, key: {name: entry}}, "") + style.newline)
    root = before.root
    if root.members is None:
        raise ConfigError("it is not an object")
    agents = root.get(key)
    if agents is None:
        after = _add(text, root, key, {name: entry}, style)
        return Merged(bom + _checked(after, before, (), {**root.data, key: {name: entry}}))
    if agents.members is None:
        raise ConfigError(f"its {key!r} is not an object")
    old = agents.get(name)
    wanted = {**root.data, key: {**agents.data, name: entry}}
    if old is None:
        return Merged(bom + _checked(_add(text, agents, name, entry, style), before, (), wanted))
    if old.data == entry:
        return Merged(bom + text)
    indent = style.indent_at(text, next(m.start for m in agents.members if m.key == name))
    after = text[: old.start] + style.write(entry, indent) + text[old.end :]
    return Merged(bom + _checked(after, before, (old.start, old.end), wanted), old.data)


class Style(NamedTuple):
    """How a text is laid out."""

    newline: str = "\n"
    step: str = "  "

    def write(self, value: Any, indent: str) -> str:
        """A value as text: objects spread over lines, which begin with this; all else on one."""
        if not isinstance(value, dict) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = indent + self.step
        members = [f"{json.dumps(key, ensure_ascii=False)}: {self.write(item, inner)}" for key, item in value.items()]
        return "{" + ",".join(self.newline + inner + member for member in members) + self.newline + indent + "}"

    def indent_at(self, text: str, at: int) -> str:
        """The space that the line of this place begins with."""
        line = text[text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]


def _style(text: str, document: Document) -> Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = Style(newline)
    for member in (document.root.members if document.root else None) or []:
        if "\n" in text[document.root.start : member.start]:  # type: ignore[union-attr]
            return Style(newline, plain.indent_at(text, member.start) or "  ")
    return plain


def _add(text: str, holder: Node, key: str, value: Any, style: Style) -> str:
    """The text with one more key at the end of an object."""
    members: list[Member] = holder.members or []
    close = holder.end - 1
    end = len(text[:close].rstrip(" \t\r\n"))  # of the last thing in it, which may be a comment
    is_spread = not members or "\n" in text[end:close]
    outer = style.indent_at(text, holder.start)
    inner = outer + style.step
    if members and "\n" in text[holder.start : members[0].start]:
        inner = style.indent_at(text, members[0].start)
    member = f"{json.dumps(key, ensure_ascii=False)}: {style.write(value, inner if is_spread else outer)}"
    if is_spread:
        tail = text[end:] if "\n" in text[end:close] else style.newline + outer + text[close:]
        added = text[:end] + style.newline + inner + member + tail
    else:
        added = f"{text[:end]} {member}{text[end:]}"
    if not members or holder.comma:
        return added
    last = members[-1].value.end  # before any comment that follows it
    return added[:last] + "," + added[last:]


def _checked(after: str, before: Document, gone: tuple[int, ...], wanted: Any) -> str:
    """The changed text, if it says what was wanted and has kept every comment, but for those in what was replaced."""
    read_again = read(after)
    kept = [span for span in before.comments if not gone or not gone[0] <= span[0] < gone[1]]
    same = read_again.root is not None and _same(read_again.root.data, wanted)
    if not same or len(read_again.comments) != len(kept):
        raise ConfigError("it is written in a way that cannot be changed from here")
    return after


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same, the order of their keys too."""
    return repr(one) == repr(other)

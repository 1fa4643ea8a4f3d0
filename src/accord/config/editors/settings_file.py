"""Add an agent to an editor's JSON settings, and leave the rest of the text untouched.

The result is parsed again and compared with the expected value; if they differ, nothing is changed. The previous file
is saved as a backup."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from accord.config.editors.editor import JsonSettings, Launch
from accord.config.editors.jsonc import Document, Member, Node, read
from accord.errors import ConfigError

BOM = "\ufeff"


class Merged(NamedTuple):
    """The new text."""

    text: str
    replaced: Any | None = None
    """The previous entry with the same name, if it was different."""


def merge(text: str, key: str, name: str, entry: dict[str, Any], new: dict[str, Any]) -> Merged:
    """Add an agent to a text, or raise `ConfigError`; `new` is other content for an empty text."""
    bom, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    before = read(text)
    style = _style(text, before)
    if before.root is None:
        head = text.rstrip() + style.newline if text.strip() else ""  # comments only
        return Merged(bom + head + style.write({**new, key: {name: entry}}, "") + style.newline)
    root = before.root
    if root.members is None:
        raise ConfigError("it isn't a JSON object")
    agents = root.get(key)
    if agents is None:
        after = _add(text, root, key, {name: entry}, style)
        return Merged(bom + _verify(after, before, (), {**root.data, key: {name: entry}}))
    if agents.members is None:
        raise ConfigError(f"its {key!r} isn't an object")
    old = agents.get(name)
    wanted = {**root.data, key: {**agents.data, name: entry}}
    if old is None:
        return Merged(bom + _verify(_add(text, agents, name, entry, style), before, (), wanted))
    if old.data == entry:
        return Merged(bom + text)
    indent = style.indent_at(text, next(m.start for m in agents.members if m.key == name))
    after = text[: old.start] + style.write(entry, indent) + text[old.end :]
    return Merged(bom + _verify(after, before, (old.start, old.end), wanted), old.data)


class Style(NamedTuple):
    """The layout of a text."""

    newline: str = "\n"
    step: str = "  "

    def write(self, value: Any, indent: str) -> str:
        """Render a value: objects over several lines with this indent, everything else on one line."""
        if not isinstance(value, dict) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = indent + self.step
        members = [f"{json.dumps(key, ensure_ascii=False)}: {self.write(item, inner)}" for key, item in value.items()]
        return "{" + ",".join(self.newline + inner + member for member in members) + self.newline + indent + "}"

    def indent_at(self, text: str, at: int) -> str:
        """Return the indent of the line at a position."""
        line = text[text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]


def _style(text: str, document: Document) -> Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = Style(newline)
    root = document.root
    if root is None:
        return plain
    for member in root.members or []:
        if "\n" in text[root.start : member.start]:
            return Style(newline, plain.indent_at(text, member.start) or "  ")
    return plain


def _add(text: str, holder: Node, key: str, value: Any, style: Style) -> str:
    """Add a key at the end of an object."""
    members: list[Member] = holder.members or []
    close = holder.end - 1
    end = len(text[:close].rstrip(" \t\r\n"))  # after the last item, which may be a comment
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


def _verify(after: str, before: Document, gone: tuple[int, ...], wanted: Any) -> str:
    """Return the changed text if it has the expected value and all comments outside the replaced part."""
    read_again = read(after)
    kept = [span for span in before.comments if not gone or not gone[0] <= span[0] < gone[1]]
    same = read_again.root is not None and _same(read_again.root.data, wanted)
    if not same or len(read_again.comments) != len(kept):
        raise ConfigError("Accord can't edit it in this form")
    return after


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, including the order of keys."""
    return repr(one) == repr(other)


class Written(NamedTuple):
    """The result of writing a settings file."""

    path: Path
    changed: bool
    backup: Path | None = None
    """The backup of the previous file."""
    replaced: Any | None = None
    """The previous entry with the same name."""


def write(path: Path, settings: JsonSettings, launch: Launch) -> Written:
    """Add an agent to a file, or raise `ConfigError` and change nothing."""
    try:
        # Keep a symbolic link, and replace its target.
        target = Path(os.path.realpath(path, strict=False))
        before = _read(path, target)
        name = settings.name(launch)
        merged = merge(_text(path, before or b""), settings.key, name, settings.entry(launch), settings.new)
        after = merged.text.encode()
        if after == before:
            return Written(path, False)
        backup = _back_up(target, before) if before is not None else None
        try:
            _replace(target, before, after)
        except BaseException:
            if backup is not None:
                backup.unlink(missing_ok=True)
            raise
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot be written: {why}; nothing was changed") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; nothing was changed") from None
    return Written(path, True, backup, merged.replaced)


def _read(path: Path, target: Path) -> bytes | None:
    """Read the file; return None if it doesn't exist."""
    try:
        kind = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise ConfigError(
                f"the directory {target.parent} doesn't exist; start the editor once, or create it"
            ) from None
        return None
    if not stat.S_ISREG(kind):  # reading a pipe or a device might never end
        raise ConfigError("it isn't a regular file")
    if not os.access(target, os.W_OK):  # replacing it would work, but it's protected on purpose
        raise ConfigError("it is read-only")
    return target.read_bytes()


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"it isn't valid UTF-8 (byte {error.start})") from None


def _back_up(target: Path, data: bytes) -> Path:
    """Save a backup under an unused name."""
    mode = stat.S_IMODE(target.stat().st_mode)
    number = 0
    while True:
        backup = target.with_name(f"{target.name}.before-accord{f'.{number}' if number else ''}")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(backup, mode)  # whatever the umask is
        return backup


def _replace(target: Path, before: bytes | None, after: bytes) -> None:
    """Replace the file atomically, unless it has changed in the meantime."""
    mode = stat.S_IMODE(target.stat().st_mode) if before is not None else 0o644
    descriptor, new = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(descriptor, "wb") as file:  # closed before the rename: Windows can't rename open files
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(new, mode)
        now = target.read_bytes() if target.exists() else None
        if now != before:
            raise ConfigError("it has just been changed by another program; try again")
        os.replace(new, target)
    except BaseException:
        os.unlink(new)
        raise

"""Path mapping between two machines that have the same project in different directories.

Only the fields that hold paths are changed: directories of sessions, locations, diffs, `file:` URIs of resources, and
the arguments of file and terminal requests, in both protocol versions. Texts, raw input and output, `_meta` and
everything else keep their bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

import msgspec
from msgspec import Raw

from accord.errors import ConfigError
from accord.remote.message import Fields, encode, raw, read_fields, read_text

_PATHS = frozenset({"cwd", "path", "oldPath", "newPath"})
_PATH_LISTS = frozenset({"additionalDirectories"})
_URIS = frozenset({"uri"})
_OPAQUE = frozenset(
    {"_meta", "rawInput", "rawOutput", "text", "data", "blob", "env", "mcpServers", "output", "requestedSchema"}
)
"""Fields that aren't searched, because the protocol has no paths in them."""
_FILE = "file://"
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

_items = msgspec.json.Decoder(list[Raw])
_text = msgspec.json.Decoder(str)


class Mapping(NamedTuple):
    """A directory on this machine, and the same directory on the machine of the agent."""

    local: str
    remote: str


def parse_mapping(text: str) -> Mapping:
    """Parse `LOCAL=REMOTE`. Raises `ConfigError` for anything else."""
    local, found, remote = text.rpartition("=")
    if not found or not _is_absolute(local) or not _is_absolute(remote):
        raise ConfigError(f"{text!r}: expected LOCAL=REMOTE with two absolute paths, such as /home/me/app=/srv/app")
    return Mapping(_without_end(local), _without_end(remote))


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\\\")) or _has_drive(path)


def _has_drive(path: str) -> bool:
    return re.match(r"[A-Za-z]:[\\/]", path) is not None


def _without_end(path: str) -> str:
    return path.rstrip("/\\") or path[:1]


class PathMap:
    """Rewrites the paths in lines, in both directions."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        there = [_Root(each.local, each.remote) for each in mappings]
        here = [_Root(each.remote, each.local) for each in mappings]
        self._out = _Rewriter(there)
        self._in = _Rewriter(here)

    def map_outgoing(self, block: bytes) -> bytes:
        """Rewrite lines for the agent: paths of this machine become paths of its machine."""
        return self._out.rewrite(block)

    def map_incoming(self, block: bytes) -> bytes:
        """Rewrite lines of the agent: paths of its machine become paths of this machine."""
        return self._in.rewrite(block)


class _Root:
    """A directory and its path on the other machine."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self._is_windows = "\\" in old or _has_drive(old)
        self._prefix = self._normalize(old).rstrip("/") + "/"
        self._separator = "\\" if "\\" in new else "/"
        self.marks = {encode(old)[1:-1], _uri_path(old).encode()}
        """The text that a line must contain to have such a path."""
        if self._is_windows:  # case and kind of slash don't matter there, so check every line with a drive
            self.marks = {b":\\\\", b":/"}

    def _normalize(self, path: str) -> str:
        return path.replace("\\", "/").casefold() if self._is_windows else path

    def map_path(self, path: str) -> str | None:
        """Return the path on the other machine; None if it isn't below this directory."""
        known = self._normalize(path)
        if not (known + "/").startswith(self._prefix):
            return None
        rest = path[len(self._prefix) :]
        if self._is_windows:
            rest = rest.replace("\\", "/")
        if not rest:
            return self.new
        return self.new.rstrip("/\\") + self._separator + rest.replace("/", self._separator)


class _Rewriter:
    """Rewrites lines in one direction."""

    def __init__(self, roots: list[_Root]) -> None:
        self._roots = sorted(roots, key=lambda root: len(root.old), reverse=True)
        self._marks = sorted(set().union(*(root.marks for root in roots)))

    def rewrite(self, block: bytes) -> bytes:
        # Most lines are chunks of text without any path. A slash may be escaped in JSON.
        if not any(mark in block for mark in self._marks) and b"\\/" not in block:
            return block
        lines = block.split(b"\n")
        return b"\n".join(self._rewrite_line(line) if line else line for line in lines)

    def _rewrite_line(self, line: bytes) -> bytes:
        message = read_fields(line)
        if message is None:
            return line
        changed = self._walk(message)
        if read_text(message, "method") == "terminal/create":
            changed = self._map_command(changed or message) or changed
        return line if changed is None else encode(changed)

    def _walk(self, fields: Fields) -> Fields | None:
        """Return the fields with their paths mapped; None if nothing changes."""
        found: Fields = {}
        for name, value in fields.items():
            if name in _OPAQUE:
                continue
            changed = self._map_field(name, value)
            if changed is not None:
                found[name] = changed
        return {**fields, **found} if found else None

    def _map_field(self, name: str, value: Raw) -> Raw | None:
        first = bytes(value)[:1]
        if first == b'"':
            if name in _PATHS:
                return self._map_text(value, self.map_path)
            return self._map_text(value, self._map_uri) if name in _URIS else None
        if first == b"{":
            fields = read_fields(value)
            if fields is None:
                return None
            changed = self._map_patch(fields) if name == "patch" else self._walk(fields)
            return None if changed is None else raw(changed)
        if first == b"[":
            return self._map_list(name, value)
        return None

    def _map_list(self, name: str, value: Raw) -> Raw | None:
        items = _items.decode(value)
        kind = "path" if name in _PATH_LISTS else "item"
        changed = [self._map_field(kind, item) for item in items]
        if not any(item is not None for item in changed):
            return None
        return raw([old if new is None else new for old, new in zip(items, changed, strict=True)])

    def _map_text(self, value: Raw, change: Callable[[str], str | None]) -> Raw | None:
        changed = change(_text.decode(value))
        return None if changed is None else raw(changed)

    def map_path(self, path: str) -> str | None:
        """Return a path on the other machine; None if it is in none of the directories."""
        for root in self._roots:
            changed = root.map_path(path)
            if changed is not None:
                return changed
        return None

    def _map_uri(self, uri: str) -> str | None:
        if not uri.startswith(_FILE):
            return None
        place, mark, rest = _split_uri(uri.removeprefix(_FILE))
        host, slash, path = place.partition("/")
        path = unquote(slash + path)
        changed = self.map_path(path[1:] if _has_drive(path[1:]) else path)
        return None if changed is None else f"{_FILE}{host}{_uri_path(changed)}{mark}{rest}"

    def _map_command(self, message: Fields) -> Fields | None:
        """Map the program and the arguments of a terminal that are paths: they are run on this machine."""
        params = read_fields(message.get("params", b""))
        if params is None:
            return None
        found: Fields = {}
        command = self._map_text(params["command"], self.map_path) if "command" in params else None
        if command is not None:
            found["command"] = command
        args = self._map_list("additionalDirectories", params["args"]) if "args" in params else None
        if args is not None:
            found["args"] = args
        return {**message, "params": raw({**params, **found})} if found else None

    def _map_patch(self, fields: Fields) -> Fields | None:
        """Map the file names in the header lines of a Git patch. Lines of files don't change."""
        text = read_text(fields, "text")
        changed = "".join(self._map_patch_lines(text))
        return {**fields, "text": raw(changed)} if changed != text else None

    def _map_patch_lines(self, text: str) -> list[str]:
        lines, old, new = [], 0, 0
        for line in text.splitlines(keepends=True):
            if old > 0 or new > 0:
                old -= line[:1] in " -"
                new -= line[:1] in " +"
            elif hunk := _HUNK.match(line):
                old, new = int(hunk[1] or 1), int(hunk[2] or 1)
            elif not line.startswith("\\"):
                line = self._map_words(line)
            lines.append(line)
        return lines

    def _map_words(self, line: str) -> str:
        for root in self._roots:
            pattern = rf'(?<![^\s"]){re.escape(root.old.rstrip("/"))}(?=[/\\\s"]|$)'
            new = root.new.rstrip("/\\").replace("\\", r"\\")  # as a template of `re`
            changed = re.sub(pattern, new, line)
            if changed != line:
                return changed
        return line


def _split_uri(text: str) -> tuple[str, str, str]:
    """Split a URI before its query or fragment."""
    found = re.search(r"[?#]", text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def _uri_path(path: str) -> str:
    path = path.replace("\\", "/")
    return quote(f"/{path}" if _has_drive(path) else path, safe="/:@!$&'()*+,;=~")

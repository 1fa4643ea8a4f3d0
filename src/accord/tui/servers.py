"""The MCP servers of a session: which were given to the agent, and what it told of them since.

The protocol has no word for the state of a server. Agents tell it to people: notices that begin with `MCP server NAME:`
are taken as being about that server, the last of them as how it is doing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from accord.model.session import Notice

if TYPE_CHECKING:
    from accord.model.requests import McpServer
    from accord.transcript.transcript import Transcript
    from accord.tui.talk import Talk

_TOLD = re.compile(r"MCP server '?([^':\s]+)'?:? (.+)", re.DOTALL)
_CONNECTED = re.compile(r"connected|ready", re.IGNORECASE)
_FAILED = re.compile(r"fail|error|lost|closed|not passed on|started again", re.IGNORECASE)
MARKS = {"connected": "✓", "failed": "✗", "given": "·", "told": "·"}


class Told(NamedTuple):
    """What is known of a server."""

    name: str
    state: str
    """`connected`, `failed`, or `given` when nothing was told of it; `told` when what was told says neither."""
    words: str = ""
    server: McpServer | None = None

    @property
    def mark(self) -> str:
        return MARKS[self.state]


class Servers:
    """Reads along in a transcript."""

    def __init__(self) -> None:
        self._transcript: Transcript | None = None
        self._read = 0
        self._words: dict[str, str] = {}

    def of(self, talk: Talk) -> list[Told]:
        """The servers of a talk, as far as is known. Only what is new since the last time is looked at."""
        self._read_on(talk.transcript)
        given = {_key(server.name): server for server in talk.servers}
        told = [self._told(server.name, key, server) for key, server in given.items()]
        return told + [self._told(name, name, None) for name in self._words if name not in given]

    def _told(self, name: str, key: str, server: McpServer | None) -> Told:
        words = self._words.get(key, "")
        if not words:
            return Told(name, "given", "", server)
        if _FAILED.search(words):
            return Told(name, "failed", words, server)
        return Told(name, "connected" if _CONNECTED.match(words) else "told", words, server)

    def _read_on(self, transcript: Transcript | None) -> None:
        if transcript is None:
            return
        if transcript is not self._transcript or len(transcript.timeline) < self._read:
            self._transcript, self._read, self._words = transcript, 0, {}
        for item in transcript.timeline[self._read :]:
            if isinstance(item, Notice) and (found := _TOLD.match(item.title)) is not None:
                self._words[_key(found[1])] = found[2]
        self._read = len(transcript.timeline)


def _key(name: str) -> str:
    """Agents may write a name a little differently, so that it fits into the names of tools."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")

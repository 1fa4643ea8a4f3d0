"""Names that every model provider takes, and that stay the same for as long as the session lasts."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
LONGEST_LABEL = 24
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Gives out names, each once. The same thing gets the same name again."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def label(self, index: int, server: str) -> str:
        """What a server is called in the names of its tools, in its commands and in rules."""
        return self._give(("server", str(index)), fitting(server, LONGEST_LABEL) or "server", server, LONGEST_LABEL)

    def tool(self, label: str, tool: str) -> str:
        """What the model calls a tool of a server."""
        return self._give((label, tool), fitting(f"mcp__{label}__{tool}", LONGEST), tool, LONGEST)

    def command(self, label: str, prompt: str) -> str:
        """The slash command of a prompt, without the slash."""
        name = f"mcp:{label}:{fitting(prompt, LONGEST) or 'prompt'}"
        return self._give((label, f"/{prompt}"), name, prompt, LONGEST + LONGEST_LABEL)

    def _give(self, what: tuple[str, str], wanted: str, whole: str, longest: int) -> str:
        name = self._given.get(what)
        if name is None:
            name, number = wanted, 1
            while name in self._taken:
                number += 1
                mark = f"_{number}"
                name = wanted[: longest - len(mark)] + mark
            self._taken.add(name)
            self._given[what] = name
        return name


def fitting(name: str, longest: int) -> str:
    """A name in the letters that providers take. One that is too long ends in a mark of the whole."""
    plain = _NOT_ALLOWED.sub("_", name)
    if len(plain) <= longest:
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: longest - 9]}_{mark}"

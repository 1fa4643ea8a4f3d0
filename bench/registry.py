"""The contenders: each is an agent and a client of one library, in `contenders/`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from peers import commands, install  # noqa: E402  (the official SDKs are installed for the tests)

install.use_installed_node()


@dataclass(frozen=True)
class Contender:
    """One library; its two files start with `name`."""

    name: str
    title: str
    language: str = "py"
    sdk: bool = False  # an official SDK, installed for the test peers
    ours: bool = False  # Accord itself
    accumulates: bool = False  # folds updates into a session, which W7s measures

    def agent(self) -> list[str]:
        return self._start("agent")

    def client(self) -> list[str]:
        return self._start("client")

    def missing(self) -> str | None:
        """Return why it can't run here, or None."""
        for side in ("agent", "client"):
            if not self._file(side).exists():
                return f"there is no contenders/{self._file(side).name}"
        return commands.missing("ts" if self.language == "ts" else "py") if self.sdk else None

    def _file(self, side: str) -> Path:
        return HERE / "contenders" / f"{self.name}_{side}.{'mjs' if self.language == 'ts' else 'py'}"

    def _start(self, side: str) -> list[str]:
        if self.language == "ts":
            return ["node", "--expose-gc", str(self._file(side))]
        return [str(install.python()) if self.sdk else sys.executable, str(self._file(side))]


CONTENDERS = [
    Contender("python_sdk", "Python SDK", sdk=True, accumulates=True),
    Contender("ts_sdk", "TypeScript SDK", language="ts", sdk=True),
    Contender("raw_blocking", "raw blocking"),
    Contender("raw_asyncio", "raw asyncio"),
    Contender("accord_wire", "accord.v1", ours=True),
    Contender("accord_neutral", "accord", ours=True, accumulates=True),
]
COMMON_AGENT = "raw_blocking"  # the agent of every client when only the client is measured

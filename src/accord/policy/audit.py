"""The log of every decision: one JSON object a line, appended, secrets masked, of bounded size.

    {"time": "2026-11-15T09:30:00.123Z", "effect": "allow", "by": "rule", "why": "…", "rule": "allow command:make test",
     "source": "remembered", "kind": "command", "command": "make test", "session": "…", "project": "…"}

Writing it never fails what it records: a full disk is told once, and the action goes on."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from accord.config.folders import data_folder
from accord.config.mask import secret_values, without
from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.policy.tables import locked
from accord.policy.text import show

FILE = "decisions.jsonl"
MAX_BYTES = 4 * 1024 * 1024
KEEP = 3
_LONG = 4000
log = logging.getLogger("accord.policy")


class Audit:
    """Writes decisions down. Several processes may write to the same file."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        keep: int = KEEP,
        secrets: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        on_fault: Callable[[str], None] | None = None,
    ) -> None:
        self.path = Path(path) if path is not None else data_folder() / FILE
        self.lost = 0
        """How many decisions could not be written."""
        self._max_bytes = max_bytes
        self._keep = keep
        self._secrets = {*secrets, *secret_values(os.environ)}
        self._clock = clock
        self._on_fault = on_fault or log.warning
        self._told = False
        self._torn = False

    def record(self, action: Action, decision: Decision) -> None:
        """Writes one decision down. Never raises."""
        try:
            self._write(msgspec.json.encode(self._entry(action, decision)) + b"\n")
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            self.lost += 1
            if not self._told:
                self._told = True
                # Told by whoever can; that the log is broken must not stop the work either.
                with contextlib.suppress(Exception):
                    why = getattr(error, "strerror", None) or error
                    self._on_fault(f"decisions are not being written to {self.path}: {why}")

    def _entry(self, action: Action, decision: Decision) -> dict[str, Any]:
        moment = datetime.fromtimestamp(self._clock(), UTC)
        entry: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "effect": decision.effect,
            "by": decision.by,
            "why": decision.why,
            "rule": show(decision.rule) if decision.rule is not None else None,
            "source": decision.source,
            "option": decision.option,
            "kind": action.kind,
            "tool_kind": action.tool_kind,
            "title": action.title,
            "paths": list(action.paths[:50]),
            "command": action.line,
            "cwd": action.cwd,
            "env": [name for name, _ in action.env[:50]],
            "url": action.url,
            "mcp": action.mcp,
            "agent": action.agent,
            "session": action.session,
            "project": action.project,
            "asked": action.asked,
        }
        return {key: self._shown(value) for key, value in entry.items() if value or value is False}

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            text = without(value[: 2 * _LONG], self._secrets)
            text = text[:_LONG] if len(value) <= _LONG else f"{text[:_LONG]}… ({len(value)} characters)"
            return text.encode("utf-8", "replace").decode()  # a lone surrogate has no place in JSON
        return [self._shown(each) for each in value] if isinstance(value, list) else value

    def _write(self, line: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o600)
        try:
            if self._torn:
                line = b"\n" + line
            written = os.write(handle, line)  # one call, so that lines of several processes do not mix
            self._torn = written < len(line)
            if self._torn:
                raise OSError("the disk is full")
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > self._max_bytes:
            self._rotate()

    def _rotate(self) -> None:
        """Moves full files one further: decisions.jsonl.1 is the youngest of them."""
        handle = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Another process may be at it, or done with it.
            if not locked(handle) or os.stat(self.path).st_size <= self._max_bytes:
                return
            for number in range(self._keep, 0, -1):
                older = self._numbered(number)
                younger = self._numbered(number - 1) if number > 1 else self.path
                with contextlib.suppress(FileNotFoundError):
                    os.replace(younger, older)
            if self._keep == 0:
                os.truncate(self.path, 0)
        finally:
            os.close(handle)

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def entries(self) -> Iterator[dict[str, Any]]:
        """What has been written, oldest first. Lines that were cut off are skipped."""
        for path in (*(self._numbered(number) for number in range(self._keep, 0, -1)), self.path):
            try:
                lines = path.read_bytes().splitlines()
            except OSError:
                continue
            for line in lines:
                try:
                    entry = msgspec.json.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                if isinstance(entry, dict):
                    yield entry

    def rules_used(self) -> set[str]:
        """The rules that decided something, as `text.show` writes them."""
        return {entry["rule"] for entry in self.entries() if isinstance(entry.get("rule"), str)}

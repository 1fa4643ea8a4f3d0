"""Audit log of all decisions: one JSON object per line, with secrets masked, and rotated at a maximum size.

    {"time": "2026-11-15T09:30:00.123Z", "effect": "allow", "by": "rule", "why": "…", "rule": "allow command:make test",
     "source": "remembered", "kind": "command", "command": "make test", "session": "…", "project": "…"}

Logging errors never affect the action: a full disk is reported once, and the action continues."""

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

from accord.config.directories import data_directory
from accord.config.redaction import redact_values, secret_values
from accord.config.rotating_log import KEEP, MAX_BYTES, RotatingLog
from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.policy.rule import format_rule

FILE = "decisions.jsonl"
_LONG = 4000
log: logging.Logger = logging.getLogger("accord.policy")


class Audit:
    """Writes decisions to the log. Several processes can share the file."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        keep: int = KEEP,
        secrets: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        self.path: Path = Path(path) if path is not None else data_directory() / FILE
        self.lost: int = 0
        """Number of decisions that couldn't be written."""
        self._log = RotatingLog(self.path, max_bytes=max_bytes, keep=keep)
        self._secrets = {*secrets, *secret_values(os.environ)}
        self._clock = clock
        self._on_problem = on_problem or log.warning
        self._is_reported = False

    def record(self, action: Action, decision: Decision) -> None:
        """Log a decision. Never raises."""
        try:
            self._log.write(self._entry(action, decision))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            self.lost += 1
            if not self._is_reported:
                self._is_reported = True
                # The callback may fail as well (a closed standard error, say), which must not stop the action either.
                with contextlib.suppress(Exception):
                    why = (isinstance(error, OSError) and error.strerror) or error
                    self._on_problem(f"decisions aren't being logged to {self.path}: {why}")

    def _entry(self, action: Action, decision: Decision) -> dict[str, Any]:
        moment = datetime.fromtimestamp(self._clock(), UTC)
        entry: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "effect": decision.effect,
            "by": decision.by,
            "why": decision.why,
            "rule": format_rule(decision.rule) if decision.rule is not None else None,
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
        return {key: self._sanitize(value) for key, value in entry.items() if value or value is False}

    def _sanitize(self, value: Any) -> Any:
        if isinstance(value, str):
            text = redact_values(value[: 2 * _LONG], self._secrets)
            text = text[:_LONG] if len(value) <= _LONG else f"{text[:_LONG]}… ({len(value)} characters)"
            return text.encode("utf-8", "replace").decode()  # lone surrogates aren't valid in JSON
        return [self._sanitize(each) for each in value] if isinstance(value, list) else value

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield all entries, oldest first. Truncated lines are skipped."""
        return self._log.entries()

    def rules_used(self) -> set[str]:
        """Return the rules that decided something, as `format_rule` renders them."""
        return {entry["rule"] for entry in self.entries() if isinstance(entry.get("rule"), str)}

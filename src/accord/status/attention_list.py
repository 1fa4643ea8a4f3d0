"""Reads the sessions that this user's clients have published, and keeps ended ones until the user has seen them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from accord.config.directories import data_directory
from accord.config.files import replace
from accord.config.locking import hold, try_lock
from accord.status.entry import ORDER, SessionStatus

MAX_ENTRIES = 100
"""The maximum number of a process's sessions, and of ended sessions."""
MAX_PROCESSES = 200
MAX_BYTES = 256 * 1024
"""The maximum size of a list. Larger files aren't ours."""
KEPT_SECONDS = 7 * 24 * 3600.0
"""How long ended sessions stay in the list if the user doesn't see them."""
CRASHED = "Accord ended while the agent was working"
_ENDED = "ended.json"


def status_directory() -> Path:
    """Return the directory of the lists."""
    return data_directory() / "status"


class AttentionList:
    """The sessions of all agents on this machine."""

    def __init__(self, directory: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.directory: Path = directory or status_directory()
        self._clock = clock

    def read(self) -> list[SessionStatus]:
        """Return all sessions, the most urgent first. Processes that have crashed are cleaned up."""
        if not self.directory.is_dir():
            return []
        live: list[SessionStatus] = []
        for path in self._lists():
            sessions = _decode(path)
            if _is_alive(path):
                live += sessions
            else:
                self._clean_up(path, sessions)
        known = {(each.agent, each.id) for each in live}
        ended = [each for each in self._load_ended() if (each.agent, each.id) not in known]
        return sorted([*live, *ended], key=lambda each: (ORDER[each.state], -each.since))

    def keep(self, ended: Sequence[SessionStatus]) -> None:
        """Add sessions that have ended and are still unseen."""
        if ended:
            new = {(each.agent, each.id) for each in ended}
            self._change(lambda old: [*(each for each in old if (each.agent, each.id) not in new), *ended])

    def mark_seen(self, *ids: str) -> None:
        """Remove ended sessions from the list: these, or all."""
        self._change(lambda old: [each for each in old if ids and each.id not in ids])

    def _change(self, change: Callable[[list[SessionStatus]], list[SessionStatus]]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self.directory / "ended.guard"):
            old = self._load_ended()
            new = change(old)[-MAX_ENTRIES:]
            if new != old:
                replace(self.directory / _ENDED, msgspec.json.encode(new).decode())

    def _load_ended(self) -> list[SessionStatus]:
        oldest = self._clock() - KEPT_SECONDS
        return [each for each in _decode(self.directory / _ENDED) if each.since >= oldest]

    def _lists(self) -> Iterator[Path]:
        with suppress(OSError), os.scandir(self.directory) as found:
            names = [each.name for each in found if each.name.endswith(".json") and each.name != _ENDED]
            yield from (self.directory / name for name in sorted(names)[:MAX_PROCESSES])

    def _clean_up(self, path: Path, sessions: Iterable[SessionStatus]) -> None:
        """Clean up after a process that has crashed. Its unfinished sessions have failed."""
        kept = [
            msgspec.structs.replace(each, state="failed", why=CRASHED, process_id=0)
            if each.state in ("running", "waiting")
            else each
            for each in sessions
            if each.state != "idle"
        ]
        with suppress(OSError):
            self.keep(kept)
            path.unlink(missing_ok=True)
            path.with_suffix(".new").unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)


def _is_alive(path: Path) -> bool:
    """Return whether the process that wrote a list still holds its lock."""
    try:
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # unknown, so don't report a crash
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)


def _decode(path: Path) -> list[SessionStatus]:
    """Read a list. One that is damaged or too large counts as empty."""
    from accord.terminal_text import one_line

    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        found = msgspec.json.decode(data, type=list[SessionStatus]) if len(data) <= MAX_BYTES else []
    except (OSError, msgspec.DecodeError):
        return []
    # Sanitized again: another version of Accord, or another program, may have written it.
    return [
        msgspec.structs.replace(
            each,
            id=one_line(each.id),
            agent=one_line(each.agent),
            cwd=one_line(each.cwd, 1000),
            title=one_line(each.title),
            why=one_line(each.why),
            client=one_line(each.client, 20),
        )
        for each in found[:MAX_ENTRIES]
    ]

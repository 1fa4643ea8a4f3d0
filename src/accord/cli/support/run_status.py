"""The entry of an `accord run` in the attention list."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN, built_in
from accord.status.entry import SessionStatus, State, describe
from accord.status.publisher import Publisher

if TYPE_CHECKING:
    from accord.config.command import Resolved


class RunStatus:
    """Publishes the session of one run, while it works and until its end has been seen."""

    def __init__(
        self,
        agent: Resolved,
        target: str | None,
        cwd: Path,
        *,
        is_saved: bool = True,
        in_background: bool = False,
    ) -> None:
        from accord.config.redaction import redact_text

        self._publisher = Publisher()
        self._is_saved = is_saved
        self._process_id = os.getpid() if in_background else 0
        own = built_in().argv
        self.agent: str = BUILT_IN if agent.argv[: len(own)] == own else redact_text(target or agent.name, agent.env)
        self._cwd = str(cwd)
        self._id = self._title = ""

    def expect(self, id: str, title: str) -> None:
        """Set the session for `end`, in case that it can't be opened."""
        self._id, self._title = id, describe(title)

    def start(self, id: str, title: str) -> None:
        """Publish that a turn is running."""
        self._id, self._title = id, self._title or describe(title)
        self._publish("running")

    @contextmanager
    def waiting(self, question: str) -> Iterator[None]:
        """Publish that the agent waits for the user's answer."""
        self._publish("waiting", question)
        try:
            yield
        finally:
            self._publish("running")

    def end(self, stop_reason: str | None, error: str) -> None:
        """Publish how a turn ended."""
        if error:
            self._publish("failed", error)
        elif stop_reason == "cancelled":
            self._publisher.publish([])
        else:
            self._publish("finished", "" if stop_reason == "end_turn" else f"stopped: {stop_reason}")

    def close(self) -> None:
        """End publishing. If the output isn't on a terminal, the user hasn't seen the end yet.

        Sessions that aren't saved leave the list: they can't be opened again."""
        self._publisher.close(unseen=self._is_saved and (sys.stdout is None or not sys.stdout.isatty()))

    def _publish(self, state: State, why: str = "") -> None:
        if self._id:
            self._publisher.publish(
                [
                    SessionStatus(
                        id=self._id,
                        agent=self.agent,
                        cwd=self._cwd,
                        state=state,
                        title=self._title,
                        why=describe(why),
                        client="run",
                        process_id=self._process_id if state in ("running", "waiting") else 0,
                    )
                ]
            )

"""What files were like before each turn of a talk, where its agent changes them through us.

A talk goes on without it: where nothing can be kept, the user is told once, and everything else works."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.tui.fault import noted
from accord.tui.pending import Pending

if TYPE_CHECKING:
    from accord.tui.link import Link
    from accord.workspace.checkpoints import Checkpoints

NO_REWIND = "Files cannot be rewound here"


class Checkpointing(Pending, ABC):
    """The part of a talk that lets files be brought back."""

    def __init__(self, link: Link, on_change: Callable[[], None]) -> None:
        super().__init__(link, on_change)
        self.checkpoints: Checkpoints | None = None

    @abstractmethod
    def say(self, severity: str, title: str, description: str | None = None) -> None:
        """Tells the user something in the conversation."""

    def _keep_files(self, session_id: str) -> None:
        """From now on what files were is kept."""
        try:
            self.checkpoints = self.link.checkpoints(session_id)
        except Exception as error:
            self._cannot_keep(noted(error))
            return
        if self.link.no_rewind and self.checkpoints is None:
            self._cannot_keep(self.link.no_rewind)

    async def _checkpoint(self, label: str) -> None:
        """A turn is about to begin."""
        if self.checkpoints is None:
            return
        try:
            await self.checkpoints.begin(label)
        except OSError as error:
            self._cannot_keep(f"{error.filename or 'its folder'}: {error.strerror or error}.")
        except Exception as error:
            self._cannot_keep(noted(error))

    def _cannot_keep(self, why: str) -> None:
        self.link.no_rewind = why
        if not self.link.told_of_no_rewind:
            self.link.told_of_no_rewind = True
            self.say("warning", NO_REWIND, why)

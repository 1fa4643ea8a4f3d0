"""The conversation of a session as the model sees it, saved message by message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from accord.coder import modes
from accord.coder.context import omit_results
from accord.coder.history import (
    KIND,
    Message,
    ModelSaid,
    Pruned,
    Reminder,
    Result,
    Summary,
    answer_all,
    from_note,
    repair,
    to_note,
)
from accord.model.statement import PrivateData

if TYPE_CHECKING:
    from accord.agent.session import Session


class SavedHistory(Sequence[Message]):
    """The messages of a session. Changes are saved as private notes, which `load` and `repair` read again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._messages: list[Message] = []

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        return self._messages[index]

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, message: Message) -> None:
        """Add a message."""
        self._messages.append(message)
        self._save(message)

    def answer_open_calls(self, otherwise: str, results: Iterable[Result] = ()) -> None:
        """Give every call of the last answer a result, `otherwise` if it has none: providers require one for each."""
        last = self._messages[-1] if self._messages else None
        if isinstance(last, ModelSaid) and last.calls:
            self.add(answer_all(last.calls, results, otherwise))

    def announce_mode(self, mode: str) -> None:
        """Tell the model about the mode, if it has changed since the last announcement."""
        reminders = (message for message in reversed(self._messages) if isinstance(message, Reminder))
        announced = next((reminder.mode for reminder in reminders if reminder.mode), "")
        if text := modes.reminder(mode, announced):
            self.add(Reminder(text=text, mode=mode))

    def replace(self, messages: Sequence[Message]) -> None:
        """Replace all messages: by a summary, which replaces what was saved before, and those after it."""
        self._messages = []
        for message in messages:
            self.add(message)

    def prune(self, messages: Sequence[Message]) -> None:
        """Replace all messages by the same ones with older results omitted, and save how many that affects."""
        changed = [index for index, message in enumerate(messages) if message is not self._messages[index]]
        self._messages = list(messages)
        self._save(Pruned(messages=changed[-1] + 1))

    def _save(self, message: Message | Pruned) -> None:
        self._session.writer.save(PrivateData(kind=KIND, data=to_note(message)))

    # -- restoring

    def load(self, note: Any) -> None:
        """Apply a saved note. Notes come in the order in which they were saved."""
        message = from_note(note)
        if isinstance(message, Summary):
            self._messages.clear()
        if isinstance(message, Pruned):
            self._messages[: message.messages] = omit_results(self._messages[: message.messages])
        elif message is not None:
            self._messages.append(message)

    def repair(self) -> None:
        """Give calls that a process didn't finish a result, after all notes are loaded."""
        self._messages = repair(self._messages)

"""The verbs that tell what was said."""

from __future__ import annotations

from typing import Union

from msgspec import UNSET, UnsetType

from accord.model.content import Content, TextContent
from accord.transcript.events import Media, MessageSet, Role, Text, Thought, UserText
from accord.transcript.fields import Fields, MetaPatch, patched_meta
from accord.transcript.message import Message, joined

TextEvent = Union[Text, Thought, UserText]

_TEXT_EVENTS: dict[Role, type[TextEvent]] = {"agent": Text, "thought": Thought, "user": UserText}


class Messages(Fields):
    """Messages, whole or piece by piece."""

    __slots__ = ()

    def append_text(self, role: Role, message_id: str | None, text: str) -> TextEvent:
        """Adds streamed text to a message.

        Without an id it continues the message that was added to just before, when that has the same role and no id
        either; otherwise it begins a new one."""
        message = self._latest
        if message is None or message.given_id != message_id or message.role != role:
            message = self._message(role, message_id)
        message.pieces.append(text)
        return _TEXT_EVENTS[role](text, message.id, self.replaying)

    def append(self, role: Role, message_id: str | None, content: Content) -> TextEvent | Media:
        """Adds a piece of content to a message, which is found as `append_text` finds it."""
        if isinstance(content, TextContent) and content.annotations is None and content.meta is None:
            return self.append_text(role, message_id, content.text)
        message = self._latest
        if message is None or message.given_id != message_id or message.role != role:
            message = self._message(role, message_id)
        message.pieces.append(content)
        if isinstance(content, TextContent):
            return _TEXT_EVENTS[role](content.text, message.id, self.replaying)
        return Media(content, role, message.id, self.replaying)

    def set_message(
        self, role: Role, message_id: str, content: list[Content] | UnsetType = UNSET, meta: MetaPatch = UNSET
    ) -> MessageSet:
        """Sets a whole message. Its content replaces what was there, chunks included; left out, that stays."""
        message = self._message(role, message_id)
        # What stays is joined for good, so that telling it again costs no more than its blocks.
        message.pieces = joined(message.pieces) if isinstance(content, UnsetType) else [*content]
        message.meta = patched_meta(message.meta, meta)
        return MessageSet(role, message_id, message.content, self.replaying)

    def add_message(self, role: Role, content: list[Content]) -> MessageSet:
        """Adds a message of our own making: the user's words, when the agent does not repeat them."""
        message = self._message(role, None)
        message.pieces = [*content]
        self.end_message()
        return MessageSet(role, message.id, [*content], self.replaying)

    def end_message(self) -> None:
        """Says that something else happened, so that a chunk without an id begins a new message."""
        self._latest = None

    def _message(self, role: Role, message_id: str | None) -> Message:
        message = None if message_id is None else self.messages.get((role, message_id))
        if message is None:
            id = message_id
            if id is None:
                id = f"~{len(self.timeline)}"
                while (role, id) in self.messages:
                    id = f"~{id}"
            message = Message(role=role, id=id, given_id=message_id, replayed=self.replaying)
            self.messages[role, id] = message
            self.timeline.append(message)
        self._latest = message
        return message

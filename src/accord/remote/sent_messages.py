"""The requests and notifications of a client that may have to be sent again on another connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.remote.message import KEY, Fields, add_meta, raw, read_fields, read_id, write


class SentMessage:
    """A request or notification that may have to be sent again."""

    def __init__(self, order: int, fields: Fields, method: str, session_id: str) -> None:
        self.order = order
        self.fields = fields
        self.line: bytes = write(fields)
        self.method = method
        self.session_id = session_id
        self.times_sent = 0

    @property
    def is_request(self) -> bool:
        return "id" in self.fields


class SentMessages:
    """Unsettled messages, in the order of sending: requests without a response, and unacknowledged notifications."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._keys = 0
        self._order = 0
        self._messages: dict[int, SentMessage] = {}
        self._requests: dict[Any, SentMessage] = {}

    def __iter__(self) -> Iterator[SentMessage]:
        return iter(self._messages.values())

    @property
    def notification_count(self) -> int:
        """The number of unacknowledged notifications."""
        return len(self._messages) - len(self._requests)

    def next_order(self) -> int:
        """Return the next position in the order of all sent messages, including answers and pings."""
        self._order += 1
        return self._order

    def next_key(self) -> str:
        """Return a key by which the server recognizes a message that is sent again."""
        self._keys += 1
        return f"{self._client_id}:{self._keys}"

    def add(self, fields: Fields, method: str, session_id: str) -> SentMessage:
        """Add a message, with a key."""
        message = SentMessage(self.next_order(), self._with_key(fields), method, session_id)
        self._messages[message.order] = message
        if message.is_request:
            self._requests[read_id(fields)] = message
        return message

    def replace_key(self, message: SentMessage) -> None:
        """Give a message another key, so that the server executes it again."""
        message.fields = self._with_key(message.fields)
        message.line = write(message.fields)

    def _with_key(self, fields: Fields) -> Fields:
        params = read_fields(fields.get("params", raw({})))
        if params is None:  # positional parameters have no place for a key
            return fields
        return {**fields, "params": raw(add_meta(params, **{KEY: self.next_key()}))}

    def take_request(self, id: Any) -> SentMessage | None:
        """Return and remove the request that a response belongs to."""
        message = self._requests.pop(id, None)
        if message is not None:
            del self._messages[message.order]
        return message

    def acknowledge(self, order: int) -> None:
        """Remove notifications that were sent before a position."""
        for message in [each for each in self._messages.values() if each.order < order and not each.is_request]:
            del self._messages[message.order]

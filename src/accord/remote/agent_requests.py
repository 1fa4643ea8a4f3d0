"""The agent's requests to the client, over all connections of that client.

Each has a stable id in `_meta`. The server delivers open requests again on a new connection, with another JSON-RPC id.
The endpoint above receives each of them once, with our own id. Its answer is saved until the server acknowledges it."""

from __future__ import annotations

from msgspec import UNSET, Raw

from accord.remote.message import Fields, Head, notification, read_fields, read_id, read_text, read_value, write

CANCEL = "$/cancel_request"


class AgentRequest:
    """One request of the agent that isn't settled."""

    def __init__(self, id: int, stable_id: str, wire_id: Raw) -> None:
        self.id = id
        """The id for the endpoint above."""
        self.stable_id = stable_id
        self.wire_id: Raw | None = wire_id
        """The id on the current connection; None if it wasn't delivered there."""
        self.answer: Fields | None = None
        self.answer_order = 0
        """The position of the answer in the order of sent messages."""
        self.answer_size = 0

    def write_answer(self) -> bytes:
        """Return the answer as a line for the current connection; empty without an answer or a connection."""
        if self.wire_id is None or self.answer is None:
            return b""
        return write({**self.answer, "id": self.wire_id})


class AgentRequests:
    """The open requests of the agent, and those whose answers aren't acknowledged."""

    def __init__(self) -> None:
        self._by_id: dict[int, AgentRequest] = {}
        self._by_stable_id: dict[str, AgentRequest] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def has_missing(self) -> bool:
        """Whether some weren't delivered on the current connection."""
        return any(request.wire_id is None for request in self._by_id.values())

    @property
    def unacknowledged(self) -> tuple[int, int]:
        """The number and the size of the answers that are saved."""
        answered = [request.answer_size for request in self._by_id.values() if request.answer is not None]
        return len(answered), sum(answered)

    def disconnect(self) -> None:
        """Handle the loss of the connection."""
        for request in self._by_id.values():
            request.wire_id = None

    def receive(self, head: Head, line: bytes) -> tuple[bytes, AgentRequest]:
        """Handle a request. Returns the line for the endpoint above, which is empty if it has the request already."""
        assert head.id is not UNSET
        wire_id = Raw(bytes(head.id))
        stable_id = head.params.meta.request if head.params is not None and head.params.meta is not None else ""
        request = self._by_stable_id.get(stable_id)
        if request is not None:
            request.wire_id = wire_id
            return b"", request
        self._last_id += 1
        request = self._by_id[self._last_id] = AgentRequest(self._last_id, stable_id, wire_id)
        if stable_id:
            self._by_stable_id[stable_id] = request
        return write({**(read_fields(line) or {}), "id": request.id}), request

    def answer(self, fields: Fields, order: int) -> bytes:
        """Save an answer of the endpoint above. Returns the line to send; empty if there is no connection for it."""
        id = read_id(fields)
        request = self._by_id.get(id) if isinstance(id, int) else None
        if request is None:
            return b""  # the request was withdrawn meanwhile
        request.answer = {name: value for name, value in fields.items() if name != "id"}
        request.answer_order = order
        request.answer_size = sum(len(bytes(value)) for value in request.answer.values())
        if not request.stable_id:  # it couldn't be recognized if it were delivered again
            self._forget(request)
        return request.write_answer()

    def acknowledge(self, order: int) -> None:
        """Remove answers that were sent before an acknowledged ping."""
        for request in list(self._by_id.values()):
            if request.answer is not None and request.wire_id is not None and request.answer_order < order:
                self._forget(request)

    def cancel(self, line: bytes) -> bytes:
        """Translate the server's cancellation of a request for the endpoint above."""
        fields = read_fields(line) or {}
        params = read_fields(fields.get("params", UNSET)) or {}
        wire_id = read_value(params, "requestId")
        for request in self._by_id.values():
            if request.wire_id is not None and read_value({"id": request.wire_id}, "id") == wire_id:
                return write({**fields, "params": {**params, "requestId": request.id}})
        return b""

    def resolve(self, line: bytes) -> bytes:
        """Handle the notice that a request was resolved: remove our answer, or cancel the request above if another
        client answered it."""
        params = read_fields((read_fields(line) or {}).get("params", UNSET))
        request = self._by_stable_id.get(read_text(params, "request"))
        if request is None:
            return b""
        if request.answer is not None:
            self._forget(request)
            return b""
        if request.wire_id is None:
            self._forget(request)
        return _cancel(request)

    def withdraw_missing(self) -> bytes:
        """Cancel requests above that weren't delivered again after a reconnect, because they are no longer open."""
        missing = [request for request in self._by_id.values() if request.wire_id is None]
        for request in missing:
            self._forget(request)
        return b"".join(_cancel(request) for request in missing if request.answer is None)

    def _forget(self, request: AgentRequest) -> None:
        self._by_id.pop(request.id, None)
        self._by_stable_id.pop(request.stable_id, None)


def _cancel(request: AgentRequest) -> bytes:
    return notification(CANCEL, {"requestId": request.id})

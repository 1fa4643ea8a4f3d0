"""Accept or refuse an HTTP request by its headers and body. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from accord.transports.http.message_head import MessageHead, read_head
from accord.transports.http.routing import SESSION_METHODS

CONNECTION_ID = "acp-connection-id"
SESSION_ID = "acp-session-id"
PROTOCOL_VERSION = "acp-protocol-version"
IDEMPOTENCY_KEY = "idempotency-key"
FEATURES = "accord-features"
"""A header of our `initialize` response. It lists the features that our client may use."""
OUR_FEATURES = "idempotency-key, last-event-id"

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
MAX_ID_LENGTH = 1024


class Refusal(NamedTuple):
    """A status and the reason, as text for the client."""

    status: int
    text: str


class Post(NamedTuple):
    """An accepted POST."""

    message: bytes
    """The body in one line."""
    head: MessageHead
    session: str | None
    """The session it belongs to; None for the connection."""
    has_header: bool = False
    """Whether a header names the session."""


def read_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str] | Refusal:
    """Read ASGI headers. A repeated header is joined, except for ours, where it would be ambiguous."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        if name in headers:
            if name in (CONNECTION_ID, SESSION_ID, "content-type", "content-length"):
                return Refusal(400, f"the header {name} is repeated")
            value = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{value}"
        headers[name] = value
    for name in (CONNECTION_ID, SESSION_ID):
        if len(headers.get(name, "")) > MAX_ID_LENGTH:
            return Refusal(400, f"the header {name} is longer than {MAX_ID_LENGTH} characters")
    return headers


def refuse_origin(headers: Mapping[str, str], allowed: frozenset[str]) -> Refusal | None:
    """Refuse a browser page of another origin. Programs that aren't browsers send no `Origin`."""
    origin = headers.get("origin")
    if origin is None or "*" in allowed or origin.lower() in allowed:
        return None
    if urlsplit(origin).netloc.lower() == headers.get("host", "").lower():
        return None
    return Refusal(403, f"the origin {origin[:200]} isn't allowed")


def refuse_post_headers(headers: Mapping[str, str], max_bytes: int) -> Refusal | None:
    """Refuse a POST before its body is read."""
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != JSON:
        return Refusal(415, f"the Content-Type must be {JSON}")
    if headers.get("content-encoding", "identity").lower() != "identity":
        return Refusal(415, "compressed bodies aren't supported")
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > max_bytes:
        return refuse_size(max_bytes)
    return None


def refuse_size(max_bytes: int) -> Refusal:
    """Refuse a body that is too long."""
    return Refusal(413, f"the body is longer than {max_bytes} bytes; a WebSocket may carry more")


def read_post(headers: Mapping[str, str], body: bytes) -> Post | Refusal:
    """Read a POST whose headers were accepted."""
    if body[:100].lstrip()[:1] == b"[":
        return Refusal(501, "batches aren't supported: send one message per POST")
    # JSON has line ends only between its tokens; strings have them escaped.
    message = body.replace(b"\r", b" ").replace(b"\n", b" ").strip()
    head = read_head(message)
    if head is None or not _is_json(message):
        return Refusal(400, "the body isn't a JSON-RPC message: it must be one JSON object")
    named = headers.get(SESSION_ID) or None
    if head.method == "initialize":
        if CONNECTION_ID in headers:
            return Refusal(400, "initialize starts a new connection: send it without Acp-Connection-Id")
        if head.kind != "request":
            return Refusal(400, "initialize is a request and needs an id")
        return Post(message, head, None)
    if not headers.get(CONNECTION_ID):
        return Refusal(400, "the header Acp-Connection-Id is missing")
    if head.is_connection_scoped:
        return Post(message, head, None)
    if head.kind != "response":
        if head.session is not None and named is not None and head.session != named:
            return Refusal(400, "Acp-Session-Id and params.sessionId differ")
        if head.method in SESSION_METHODS and head.session is None and named is None:
            return Refusal(400, "the header Acp-Session-Id is missing")
    return Post(message, head, named if named is not None else head.session, named is not None)


def refuse_get(headers: Mapping[str, str]) -> Refusal | None:
    """Refuse a GET that can't become an event stream."""
    accepted = [part.partition(";")[0].strip().lower() for part in headers.get("accept", "").split(",")]
    if EVENT_STREAM not in accepted:
        return Refusal(406, f"the Accept header must include {EVENT_STREAM}")
    return refuse_without_connection(headers)


def refuse_without_connection(headers: Mapping[str, str]) -> Refusal | None:
    """Refuse a request that names no connection."""
    return None if headers.get(CONNECTION_ID) else Refusal(400, "the header Acp-Connection-Id is missing")


def _is_json(message: bytes) -> bool:
    """Check that it is JSON throughout, including the parts that `read_head` doesn't decode.

    Lone surrogates pass: the connection repairs them. Nesting that is too deep gets its error from there as well."""
    try:
        msgspec.json.decode(message, type=msgspec.Raw)
    except ValueError:
        return False
    except RecursionError:
        pass
    return message.startswith(b"{") and message.endswith(b"}")

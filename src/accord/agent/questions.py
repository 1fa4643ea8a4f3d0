"""Permission requests and forms, sent in the way that the client supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from accord.agent.client_quirks import shows_option_names
from accord.connection.connection import current_request
from accord.errors import InvalidValue, LocalProtocolError, RemoteProtocolError, RequestFailed
from accord.model import check, values
from accord.model.content import as_content
from accord.model.forms import fits
from accord.model.record import Meta
from accord.model.requests import Elicitation, PermissionOption, PermissionRequest, Reply
from accord.model.tool import Diff, LocationsLike, TerminalRef, ToolCall, ToolKind

if TYPE_CHECKING:
    from accord.agent.dialect import Dialect
    from accord.agent.offers import ClientOffers
    from accord.agent.session import Session
    from accord.agent.side import AgentSide
    from accord.agent.tool import Tool
    from accord.agent.workspace import DisplayTerminal


async def permit(
    session: Session,
    title: str,
    *,
    kind: ToolKind,
    options: Sequence[PermissionOption] | None,
    always: bool,
    description: str | None,
    command: str | None,
    cwd: str | None,
    content: Sequence[Any],
    locations: LocationsLike,
    tool: Tool | None,
    terminal: DisplayTerminal | None,
    subject: dict[str, Any] | None,
    meta: Meta | None,
) -> Permission:
    """Ask for permission. Only an offered allowing option counts as approval."""
    session.check_open("ask for permission")
    session.writer.release_messages()
    offered = standard_options(always) if options is None else check.permission_options(options)
    values.optional_text("description", description)
    values.optional_text("command", command)
    if isinstance(content, str):  # a string would be shown letter by letter
        raise InvalidValue(f"content is {values.short(content)}; it must be a list", argument="content")
    if isinstance(tool, str):
        raise InvalidValue(
            f"tool is {values.short(tool)}; it must be the call that turn.tool(…) returned; kind= says what it does",
            argument="tool",
        )
    if subject is not None:
        check.own_variant("subject", subject)
    shown = [item if isinstance(item, (Diff, TerminalRef)) else as_content(item) for item in content]
    call = tool or session.tool(title, kind="execute" if command is not None else kind, locations=locations)
    request = PermissionRequest(
        session_id=session.id,
        title=title,
        description=description,
        options=offered,
        tool_call=ToolCall(
            id=call.id,
            title=call.title,
            kind=call.kind,
            status=call.status or "pending",
            content=shown or list(call.content),
            locations=call.locations,
        ),
        command=command,
        cwd=(cwd or session.cwd) if command is not None else None,
        terminal_id=terminal.id if terminal is not None else None,
        other=subject,
        meta=meta,
    )
    if tool is not None:
        return await _answer(session, request, is_background=tool.background)
    # Show the call like any other: announced before the request, ended after the answer. The request is sent right
    # after the announcement, so that concurrent requests stay in order.
    call.content = shown
    call.announce()
    answer = Permission(None)
    try:
        answer = await _answer(session, request)
    finally:
        if session.is_connected:
            await call.update(status="completed" if answer else "cancelled" if answer.cancelled else "failed")
    return answer


async def _answer(session: Session, request: PermissionRequest, *, is_background: bool = False) -> Permission:
    # Background work doesn't make the turn wait for the user.
    with nullcontext() if is_background else blocked(session):
        try:
            chosen, meta = await session.dialect.request_permission(session, request)
        except (RequestFailed, RemoteProtocolError):
            # An error, or a response that can't be read, never counts as approval.
            return Permission(None)
    return Permission(next((option for option in request.options if option.id == chosen), None), meta)


async def ask(
    session: Session,
    message: str,
    schema: dict[str, Any],
    url: str | None,
    id: str | None,
    tool: Tool | None,
    meta: Meta | None,
) -> Reply:
    """Ask with a form or page; else with permission options if the client shows their names; else as text."""
    values.text("message", message)
    session.writer.release_messages()
    offers = session.client.offers
    if url is not None or offers.forms:
        question = _question(offers, message, schema, url, id or session.new_id("elicit"), meta)
        question.tool_call_id = tool.id if tool is not None else None
        return await _elicit(session, question)
    choices = choices_of(check.form("schema", schema))
    listed = "\n".join(f"{number}. {name}" for number, (_, _, name) in enumerate(choices or (), 1))
    if choices is None or not shows_option_names(offers):
        await session.say(f"{message}\n\n{listed}\n\n" if listed else message)
        return Reply(action="later")
    # Option ids are positions, because values need not be unique as text.
    options = [
        PermissionOption(id=str(index), name=name, kind="allow_once") for index, (_, _, name) in enumerate(choices)
    ]
    options.append(PermissionOption(id="reject_once", name="Cancel", kind="reject_once"))
    answer = await session.permit(message, options=options, content=[listed], meta=meta)
    if answer:
        assert answer.option is not None
        field, value, _ = choices[int(answer.option.id)]
        return Reply(action="accept", content={field: value}, meta=answer.meta)
    return Reply(action="cancel" if answer.cancelled else "decline", meta=answer.meta)


async def ask_client(
    side: AgentSide, message: str, schema: dict[str, Any], url: str | None, id: str | None, meta: Meta | None
) -> Reply:
    """Ask with a form or page for the request that is being handled, which belongs to no session."""
    question = _question(side.client.offers, message, schema, url, id or side.sessions.ids.new("elicit"), meta)
    question.request_id = current_request.get()
    if not side.connection.is_handling(question.request_id):
        raise LocalProtocolError(
            "client.ask works only while a request of the client is handled, such as a login; in a session, use "
            "turn.ask or session.ask"
        )
    return await _send(side.dialect, question)


def _question(
    offers: ClientOffers, message: str, schema: dict[str, Any], url: str | None, id: str, meta: Meta | None
) -> Elicitation:
    """Build a form, or a page if there is a URL. Raises `CapabilityError` if the client doesn't support it."""
    if url is None:
        offers.need("forms", "forms (elicitation.form)")
        return Elicitation(message=message, schema=check.form("schema", schema), meta=meta)
    values.url("url", url)
    if schema:
        raise InvalidValue("ask() was given both a schema and a url; ask two questions", argument="url")
    offers.need("urls", "to open pages (elicitation.url)")
    return Elicitation(message=message, mode="url", url=url, id=id, meta=meta)


async def _elicit(session: Session, question: Elicitation) -> Reply:
    """Send a form or page for the session, or for the request that creates it if the client doesn't know it yet."""
    if session.is_known:
        session.check_open("ask")
        question.session_id = session.id
    else:
        question.request_id = current_request.get()
    with blocked(session):
        return await _send(session.dialect, question)


async def _send(dialect: Dialect, question: Elicitation) -> Reply:
    """Send a form or page. Accepted content is checked: an answer that doesn't fit the form is "invalid"."""
    try:
        reply = await dialect.elicit(question)
    except (RequestFailed, RemoteProtocolError):
        return Reply(action="cancel")
    if reply.accepted and question.mode == "form" and not fits(question.schema, reply.content):
        return Reply(action="invalid", content=reply.content, meta=reply.meta)
    return reply


@contextmanager
def blocked(session: Session) -> Iterator[None]:
    """Mark the turn as waiting for the user. Version 2 reports that as a state."""
    session.waiting_for_user += 1
    if session.waiting_for_user == 1:
        session.dialect.waiting_changed(session, True)
    try:
        yield
    finally:
        session.waiting_for_user -= 1
        if not session.waiting_for_user:
            session.dialect.waiting_changed(session, False)


ALLOW_ONCE = PermissionOption(id="allow_once", name="Allow", kind="allow_once")
ALLOW_ALWAYS = PermissionOption(id="allow_always", name="Always allow", kind="allow_always")
REJECT_ONCE = PermissionOption(id="reject_once", name="Reject", kind="reject_once")
REJECT_ALWAYS = PermissionOption(id="reject_always", name="Always reject", kind="reject_always")


class Permission:
    """The answer to a permission request. True only if the user chose an offered option that allows the action."""

    __slots__ = ("meta", "option")

    def __init__(self, option: PermissionOption | None, meta: Meta | None = None) -> None:
        self.option: PermissionOption | None = option
        """The chosen option; None if the request was cancelled, or the answer isn't one of the options."""
        self.meta: Meta | None = meta
        """The `_meta` of the client's answer."""

    def __bool__(self) -> bool:
        return self.option is not None and self.option.allows

    @property
    def always(self) -> bool:
        """Whether the agent should remember the choice."""
        return self.option is not None and self.option.kind in ("allow_always", "reject_always")

    @property
    def cancelled(self) -> bool:
        return self.option is None

    def __repr__(self) -> str:
        return f"Permission({self.option.id!r})" if self.option else "Permission(cancelled)"


def standard_options(always: bool) -> list[PermissionOption]:
    """Return the standard options, one per kind, allowing ones first. Their ids equal their kinds, which every client
    understands."""
    return [ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE] if always else [ALLOW_ONCE, REJECT_ONCE]


def choices_of(schema: dict[str, Any]) -> Sequence[tuple[str, Any, str]] | None:
    """Convert a form with a single choice to (field, value, name) rows. Returns None for any other form."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) != 1:
        return None
    field, shape = next(iter(properties.items()))
    if shape.get("type") == "boolean":
        return [(field, True, "Yes"), (field, False, "No")]
    if shape.get("type") == "string" and shape.get("enum"):
        return [(field, value, str(value)) for value in shape["enum"]]
    if shape.get("type") == "string" and shape.get("oneOf"):
        return [(field, row["const"], row.get("title") or row["const"]) for row in shape["oneOf"]]
    return None

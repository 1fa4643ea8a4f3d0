"""How an agent asks a person, by whatever means the client has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from accord.agent.forms import fits
from accord.agent.permission import Permission, choices_of, standard_options
from accord.connection.connection import current_request
from accord.errors import CapabilityError, RemoteProtocolError, RequestFailed
from accord.model.content import as_content
from accord.model.requests import Elicitation, PermissionOption, PermissionRequest, Reply
from accord.model.tool import Diff, TerminalRef, ToolCall

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool


async def permit(
    session: Session,
    title: str,
    *,
    kind: str,
    options: Sequence[PermissionOption] | None,
    always: bool,
    description: str | None,
    command: str | None,
    cwd: str | None,
    content: Sequence[Any],
    locations: Sequence[Any],
    tool: Tool | None,
) -> Permission:
    """Asks, and takes nothing but an offered option that allows for a yes."""
    session.check_open("ask for permission")
    offered = list(options) if options is not None else standard_options(always)
    if not offered:
        raise ValueError("a permission request needs at least one option")
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
    )
    if tool is not None:
        return await _answer(session, request, is_background=tool.background)
    # What is asked about is shown like any other call: announced before the question, ended after the answer. The
    # question follows at once: of several that are asked side by side, none overtakes another.
    call.content = shown
    call.announce()
    answer = Permission(None)
    try:
        answer = await _answer(session, request)
    finally:
        if session._side.connection.is_open:
            await call.update(status="completed" if answer else "cancelled" if answer.cancelled else "failed")
    return answer


async def _answer(session: Session, request: PermissionRequest, *, is_background: bool = False) -> Permission:
    # What a turn waits for is its own affair: work in the background does not hold it up.
    with nullcontext() if is_background else blocked(session):
        try:
            chosen = await session._side.dialect.request_permission(session, request)
        except (RequestFailed, RemoteProtocolError):
            # An error for an answer is no approval, whatever it says; nor is an answer that nobody understands.
            return Permission(None)
    return Permission(next((option for option in request.options if option.id == chosen), None))


async def ask(session: Session, message: str, schema: dict[str, Any], url: str | None, id: str | None) -> Reply:
    """A form or a page if the client has them; else a choice among options; else plain text."""
    side = session._side
    if url is not None:
        if not session.client.urls:
            raise CapabilityError("the client did not offer to open pages (elicitation.url); nothing was sent")
        return await _elicit(session, Elicitation(message=message, mode="url", url=url, id=id or side.new_id("elicit")))
    if session.client.forms:
        form = {"type": "object", "properties": {}, **schema}
        reply = await _elicit(session, Elicitation(message=message, schema=form))
        return (
            Reply(action="invalid", content=reply.content)
            if reply.accepted and not fits(form, reply.content)
            else reply
        )
    choices = choices_of(schema)
    if choices is not None:
        # The id of an option names its place: values need not be unique as text.
        options = [
            PermissionOption(id=str(index), name=name, kind="allow_once") for index, (_, _, name) in enumerate(choices)
        ]
        options.append(PermissionOption(id="reject_once", name="Cancel", kind="reject_once"))
        answer = await session.permit(message, options=options)
        if answer:
            assert answer.option is not None
            field, value, _ = choices[int(answer.option.id)]
            return Reply(action="accept", content={field: value})
        return Reply(action="cancel" if answer.cancelled else "decline")
    await session.say(message)
    return Reply(action="later")


async def _elicit(session: Session, question: Elicitation) -> Reply:
    """Asks in the name of the session or, while the client does not know it yet, of the request that opens it."""
    if session.is_known:
        session.check_open("ask")
        question.session_id = session.id
    else:
        question.request_id = current_request.get()
    with blocked(session):
        try:
            return await session._side.dialect.elicit(session, question)
        except (RequestFailed, RemoteProtocolError):
            return Reply(action="cancel")


@contextmanager
def blocked(session: Session) -> Iterator[None]:
    """While this lasts the session's work waits for a person; version 2 says so."""
    session.waiting_for_user += 1
    if session.waiting_for_user == 1:
        session._side.dialect.waiting(session, True)
    try:
        yield
    finally:
        session.waiting_for_user -= 1
        if not session.waiting_for_user:
            session._side.dialect.waiting(session, False)

"""How an agent asks a person, by whatever means the client has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from accord.agent.permission import Permission, choices_of, standard_options
from accord.errors import CapabilityError, RequestFailed
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
    content: Sequence[Any],
    locations: Sequence[Any],
    tool: Tool | None,
) -> Permission:
    """Asks, and takes nothing but an offered option that allows for a yes."""
    side = session._side
    offered = list(options) if options is not None else standard_options(always)
    if not offered:
        raise ValueError("a permission request needs at least one option")
    shown = [item if isinstance(item, (Diff, TerminalRef)) else as_content(item) for item in content]
    call = ToolCall(
        id=tool.id if tool is not None else side.new_id("call"),
        title=tool.title if tool is not None else title,
        kind=tool.kind if tool is not None else kind,
        status=(tool.status if tool is not None else None) or "pending",
        content=shown or (list(tool.content) if tool is not None else []),
        locations=tool.locations if tool is not None else [session.location(place) for place in locations],
    )
    request = PermissionRequest(
        session_id=session.id,
        title=title,
        description=description,
        options=offered,
        tool_call=call if command is None or tool is not None else None,
        command=command,
        cwd=session.cwd if command is not None else None,
    )
    with blocked(session):
        try:
            chosen = await side.dialect.request_permission(session, request)
        except RequestFailed:
            # An error for an answer is no approval, whatever it says.
            return Permission(None)
    return Permission(next((option for option in offered if option.id == chosen), None))


async def ask(session: Session, message: str, schema: dict[str, Any], url: str | None) -> Reply:
    """A form or a page if the client has them; else a choice among options; else plain text."""
    side = session._side
    if url is not None:
        if not session.client.urls:
            raise CapabilityError("the client did not offer to open pages (elicitation.url); nothing was sent")
        question = Elicitation(message=message, mode="url", url=url, id=side.new_id("elicit"), session_id=session.id)
        with blocked(session):
            return await _reply(side.dialect.elicit(session, question))
    if session.client.forms:
        form = {"type": "object", "properties": {}, **schema}
        with blocked(session):
            return await _reply(
                side.dialect.elicit(session, Elicitation(message=message, schema=form, session_id=session.id))
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


async def _reply(asking: Any) -> Reply:
    try:
        reply: Reply = await asking
    except RequestFailed:
        return Reply(action="cancel")
    return reply


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

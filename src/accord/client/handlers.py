"""What a client answers when the agent asks: permissions, forms, and things outside the protocol."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

from accord.connection.dispatch import log
from accord.errors import AccordError, InvalidParams, MethodNotFound
from accord.model.requests import Elicitation, PermissionOption, PermissionRequest, Reply
from accord.model.session import Notice

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session

Decision = Union[PermissionOption, str, bool, None]
"""An offered option or its id; True or False for "allow once" and "reject once"; None when nothing was decided."""
Permissions = Callable[[PermissionRequest], Union[Decision, Awaitable[Decision]]]
Elicited = Union[Reply, dict[str, Any], None]
"""What the user filled in, a whole reply, or None for going away without an answer."""
Elicitations = Callable[[Elicitation], Union[Elicited, Awaitable[Elicited]]]

_PERMISSION = "session/request_permission"
_QUESTIONS = {_PERMISSION: "for permission", "elicitation/create": "for something to be filled in or visited"}
_MOST_MISASKED = 20  # an agent that never learns must not fill the conversation


def allow_all(request: PermissionRequest) -> Decision:
    """Allows everything, once. For agents that are trusted, or confined."""
    return True


def reject_all(request: PermissionRequest) -> Decision:
    """Rejects everything."""
    return False


class Handlers:
    """The user's handlers of one connection."""

    def __init__(
        self,
        permissions: Permissions | None = None,
        elicitation: Elicitations | None = None,
        extensions: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        self.permissions = permissions
        self.elicitation = elicitation
        self.extensions = dict(extensions or {})
        self._misasked = 0
        self._pages: set[str] = set()  # those the user agreed to visit

    async def permit(self, session: Session, request: PermissionRequest) -> str | None:
        """The id of the chosen option; None when nothing was decided."""
        if not request.options:
            self._tell_misasked(session, _PERMISSION, "options is empty: there is nothing to choose from")
            return None
        if self.permissions is None:
            title = f"Refused: {request.title}"
            session.note_locally(
                Notice(severity="warning", title=title, description="no handler for permissions was given to connect()")
            )
            option = request.reject()
            return option.id if option is not None else None
        decision = await session.ask_user(_awaited(self.permissions, request))
        return _chosen(decision, request)

    def unreadable(self, sessions: Mapping[str, Session], method: str, params: Any, why: str) -> None:
        """A request was refused unread. Where it names no session, those that are at work are meant."""
        id = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(id, str):
            meant = [sessions[id]] if id in sessions else []
        else:
            meant = [each for each in sessions.values() if each.busy]
        for session in meant:
            self._tell_misasked(session, method, why)

    def _tell_misasked(self, session: Session, method: str, why: str) -> None:
        """Tells the user that the agent wanted to ask something, and was refused because it cannot be understood."""
        if method in _QUESTIONS and self._misasked < _MOST_MISASKED:
            self._misasked += 1
            title = f"The agent asked {_QUESTIONS[method]} in a way that is not understood; it was refused"
            session.note_locally(Notice(severity="warning", title=title, description=why))

    async def elicit(self, agent: ConnectedAgent, question: Elicitation) -> Reply:
        """The user's answer. A kind of question that was never offered is refused."""
        if self.elicitation is None or question.mode not in ("form", "url"):
            offered = "none" if self.elicitation is None else "form and url"
            raise InvalidParams(
                f"elicitation/create: mode is {question.mode[:40]!r}; this client takes {offered}",
                data={"path": "mode"},
            )
        session = agent.session_of(question.session_id) if question.session_id is not None else None
        asking = _awaited(self.elicitation, question)
        answer = await (session.ask_user(asking) if session is not None else asking)
        if isinstance(answer, dict):
            answer = Reply(action="accept", content=answer)
        elif not isinstance(answer, Reply):
            answer = Reply(action="cancel")
        if answer.accepted and question.id is not None:
            self._pages.add(question.id)
        return answer

    def page_done(self, id: str) -> Any:
        """What the user was to do on a page is done. Told once, and only of pages that were opened."""
        if id not in self._pages:
            return None
        self._pages.discard(id)
        return self.notification("elicitation/complete", {"elicitationId": id})

    async def request(self, method: str, params: Any) -> Any:
        """A request outside the protocol."""
        handler = self.extensions.get(method)
        if handler is None:
            raise MethodNotFound(f"Method not found: {method[:100]}", data={"method": method[:100]})
        return await _awaited(handler, params)

    def notification(self, method: str, params: Any) -> Any:
        """A notification outside the protocol: ignored when nobody knows it."""
        handler = self.extensions.get(method)
        if handler is not None:
            result = handler(params)
            return result if inspect.isawaitable(result) else None
        log.debug("the agent sent the notification %s, which nobody here knows", method[:100])
        return None


async def _awaited(handler: Callable[[Any], Any], value: Any) -> Any:
    result = handler(value)
    return await result if inspect.isawaitable(result) else result


def _chosen(decision: Decision, request: PermissionRequest) -> str | None:
    if isinstance(decision, bool):
        option = request.allow() if decision else request.reject()
        return option.id if option is not None else None
    if decision is None:
        return None
    id = decision.id if isinstance(decision, PermissionOption) else decision
    if id not in [option.id for option in request.options]:
        raise AccordError(f"the permission handler chose {id!r}, which was not offered")
    return id

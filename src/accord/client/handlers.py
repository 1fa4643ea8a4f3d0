"""The user's handlers for requests of the agent: permissions, forms, and extensions of the protocol."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Union

from msgspec import structs

from accord.connection.dispatch import log
from accord.errors import InvalidParams, InvalidValue, MethodNotFound
from accord.model.forms import fits
from accord.model.requests import ELICITATION_MODES, Elicitation, PermissionOption, PermissionRequest, Reply
from accord.model.session import Notice
from accord.model.values import short

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session

Decision = Union[PermissionOption, str, bool, None]
"""An offered option or its id; True or False for "allow once" and "reject once"; None if nothing was decided."""
Permissions = Callable[[PermissionRequest], Union[Decision, Awaitable[Decision]]]
Elicited = Union[Reply, dict[str, Any], None]
"""The values that the user filled in, a whole reply, or None if the user gave no answer."""
Elicitations = Callable[[Elicitation], Union[Elicited, Awaitable[Elicited]]]

_PERMISSION = "session/request_permission"
_QUESTIONS = {_PERMISSION: "for permission", "elicitation/create": "for a form or a page"}
_MAX_REPORTS = 20  # a faulty agent must not flood the transcript


def allow_all(request: PermissionRequest) -> Decision:
    """Allow everything once. For agents that are trusted or confined."""
    return True


def reject_all(request: PermissionRequest) -> Decision:
    """Reject everything."""
    return False


class Handlers:
    """The user's handlers of one connection."""

    def __init__(
        self,
        permissions: Permissions | None = None,
        elicitation: Elicitations | None = None,
        extensions: Mapping[str, Callable[[Any], Any]] | None = None,
        elicitation_modes: Collection[str] = ELICITATION_MODES,
    ) -> None:
        self.elicitation_modes: tuple[str, ...] = tuple(elicitation_modes) if elicitation is not None else ()
        """The elicitation modes that the handler supports."""
        self.permissions = permissions
        self.elicitation = elicitation
        self.extensions: dict[str, Callable[[Any], Any]] = dict(extensions or {})
        self._reports = 0
        self._warned = False
        self._pages: dict[str, Elicitation] = {}  # pages that the user opened, by id

    async def permit(self, session: Session, request: PermissionRequest) -> str | None:
        """Return the id of the chosen option; None if nothing was decided."""
        if not request.options:
            self._report_unreadable(session, _PERMISSION, "options is empty: there is nothing to choose from")
            return None
        if self.permissions is None:
            if not self._warned:
                self._warned = True
                log.warning(
                    "%s was refused: connect() has no permissions= handler; pass accord.allow_all, accord.reject_all "
                    "or your own function",
                    short(request.title),
                )
            title = f"Refused: {request.title}"
            session.note_locally(
                Notice(severity="warning", title=title, description="no handler for permissions was given to connect()")
            )
            option = request.reject()
            return option.id if option is not None else None
        decision = await session.ask_user(self.permissions, request)
        return _option_id(decision, request)

    def unreadable(self, sessions: Mapping[str, Session], method: str, params: Any, why: str) -> None:
        """Report a request that was rejected because it couldn't be read. If it names no session, it is reported in all
        busy ones."""
        id = params.get("sessionId") if isinstance(params, dict) else None
        if isinstance(id, str):
            affected = [sessions[id]] if id in sessions else []
        else:
            affected = [each for each in sessions.values() if each.busy]
        for session in affected:
            self._report_unreadable(session, method, why)

    def _report_unreadable(self, session: Session, method: str, why: str) -> None:
        """Show the user that the agent's request was rejected because it couldn't be read."""
        if method in _QUESTIONS and self._reports < _MAX_REPORTS:
            self._reports += 1
            title = f"The agent asked {_QUESTIONS[method]} with an invalid request, which was refused"
            session.note_locally(Notice(severity="warning", title=title, description=why))

    async def elicit(self, agent: ConnectedAgent, question: Elicitation) -> Reply:
        """Return the user's answer. Modes that weren't offered are rejected."""
        if self.elicitation is None or question.mode not in self.elicitation_modes:
            offered = " and ".join(self.elicitation_modes) or "none"
            raise InvalidParams(
                f"elicitation/create: mode is {question.mode[:40]!r}; this client takes {offered}",
                data={"path": "mode"},
            )
        if question.session_id is not None:
            answer = await agent.registry.find(question.session_id).ask_user(self.elicitation, question)
        else:
            answer = await _call(self.elicitation, question)
        if isinstance(answer, dict):
            answer = Reply(action="accept", content=answer)
        elif answer is None:
            answer = Reply(action="cancel")
        elif not isinstance(answer, Reply):
            raise InvalidValue(
                f"the elicitation handler returned {short(answer)}; it must return a dict, a Reply or None",
                argument="return value",
            )
        if question.mode != "form":
            answer = structs.replace(answer, content=None)  # the agent must not see data entered on a page
        elif answer.accepted:
            _check_filled(question.schema, answer.content or {})
        if answer.accepted and question.id is not None:
            self._pages[question.id] = question
        return answer

    def close_page(self, id: str) -> Elicitation | None:
        """Forget a page that the user opened and return it; None if no such page is open."""
        return self._pages.pop(id, None)

    async def request(self, method: str, params: Any) -> Any:
        """Handle a request that the protocol doesn't define."""
        handler = self.extensions.get(method)
        if handler is None:
            raise MethodNotFound(f"Method not found: {method[:100]}", data={"method": method[:100]})
        return await _call(handler, params)

    def notification(self, method: str, params: Any) -> Any:
        """Handle a notification that the protocol doesn't define; unknown ones are ignored."""
        handler = self.extensions.get(method)
        if handler is not None:
            result = handler(params)
            return result if inspect.isawaitable(result) else None
        log.debug("ignored the unknown notification %s", method[:100])
        return None


def _check_filled(schema: dict[str, Any], content: dict[str, Any]) -> None:
    """Check accepted content against the form, so that agents needn't ask again for required fields."""
    missing = [name for name in schema.get("required") or () if name not in content]
    if missing:
        raise InvalidValue(
            f"the elicitation handler left out {', '.join(map(repr, missing))}, which the form requires",
            argument=str(missing[0]),
        )
    for name, value in content.items():
        if not fits({**schema, "required": ()}, {name: value}):
            # The agent gets this message, so it doesn't contain the value.
            raise InvalidValue(
                f"the elicitation handler returned a value for {name!r} that doesn't fit the form", argument=name
            )


async def _call(handler: Callable[[Any], Any], value: Any) -> Any:
    result = handler(value)
    return await result if inspect.isawaitable(result) else result


def _option_id(decision: Decision, request: PermissionRequest) -> str | None:
    if isinstance(decision, bool):
        option = request.allow() if decision else request.reject()
        return option.id if option is not None else None
    if decision is None:
        return None
    id = decision.id if isinstance(decision, PermissionOption) else decision
    if id not in [option.id for option in request.options]:
        offered = ", ".join(repr(option.id) for option in request.options)
        raise InvalidValue(
            f"the permission handler returned {short(id)}; it must return True, False, None or an offered option "
            f"({offered})",
            argument="return value",
        )
    return id

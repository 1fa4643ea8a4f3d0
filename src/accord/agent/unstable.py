"""The unstable methods that look alike in both versions: served when the agent asks for them and has written them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import Handler
from accord.errors import InvalidParams
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def routes(agent: Agent, m: Any, words: Any) -> dict[Method[Any, Any], Handler]:
    """The routes for what the author wrote; `m` and `words` are the version's methods and types."""

    async def archive(params: Any) -> None:
        await agent.archive_session(params.session_id)

    async def unarchive(params: Any) -> None:
        await agent.unarchive_session(params.session_id)

    async def status(params: Any) -> Any:
        return words.SessionStatusResponse(status=await agent.session_status(params.session_id))

    async def set_title(params: Any) -> Any:
        title = params.title.strip()
        if not title:
            raise InvalidParams("session/set_title: the title is empty")
        return words.SetSessionTitleResponse(title=await agent.set_title(params.session_id, title))

    table: dict[str, tuple[Method[Any, Any], Handler]] = {
        "archive_session": (m.SESSION_ARCHIVE, archive),
        "unarchive_session": (m.SESSION_UNARCHIVE, unarchive),
        "session_status": (m.SESSION_STATUS, status),
        "set_title": (m.SESSION_SET_TITLE, set_title),
        "auth_status": (m.AUTH_STATUS, agent.auth_status),
        "list_providers": (m.PROVIDERS_LIST, agent.list_providers),
        "set_provider": (m.PROVIDERS_SET, agent.set_provider),
        "disable_provider": (m.PROVIDERS_DISABLE, agent.disable_provider),
        "mcp_notification": (m.MCP_NOTIFICATION, agent.mcp_notification),
    }
    return {method: handler for name, (method, handler) in table.items() if agent.offers(name)}

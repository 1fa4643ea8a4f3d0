"""The unstable methods that look alike in both versions: served when the agent asks for them and has written them, or
its store does them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import Handler
from accord.schema.common.session import SetSessionTitleResponse
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.agent.side import AgentSide


def routes(side: AgentSide, m: Any, stored: bool) -> dict[Method[Any, Any], Handler]:
    """What is served; `m` are the version's methods, and `stored` says whether sessions are kept."""
    agent = side.agent

    async def archive(params: Any) -> None:
        await side.archive_session(params.session_id, True)

    async def unarchive(params: Any) -> None:
        await side.archive_session(params.session_id, False)

    async def set_title(params: Any) -> SetSessionTitleResponse:
        return SetSessionTitleResponse(title=await side.set_session_title(params.session_id, params.title))

    by_store: dict[str, tuple[Method[Any, Any], Handler]] = {
        "archive_session": (m.SESSION_ARCHIVE, archive),
        "unarchive_session": (m.SESSION_UNARCHIVE, unarchive),
        "set_title": (m.SESSION_SET_TITLE, set_title),
    }
    by_author: dict[str, tuple[Method[Any, Any], Handler]] = {
        "auth_status": (m.AUTH_STATUS, agent.auth_status),
        "list_providers": (m.PROVIDERS_LIST, agent.list_providers),
        "set_provider": (m.PROVIDERS_SET, agent.set_provider),
        "disable_provider": (m.PROVIDERS_DISABLE, agent.disable_provider),
        "mcp_notification": (m.MCP_NOTIFICATION, agent.mcp_notification),
    }
    table = {**by_store, **by_author}
    return {
        method: handler
        for name, (method, handler) in table.items()
        if agent.offers(name) or (stored and name in by_store)
    }

"""The unstable methods that look alike in both versions, as a client calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from accord.transcript.reading import plain

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.schema.method import Method

_AUTH_STATES = ("authenticated", "unauthenticated", "not_required", "unknown")


class Unstable:
    """For the dialects: `methods` and `words` are the methods and types of their version."""

    agent: ConnectedAgent
    methods: ClassVar[Any]
    words: ClassVar[Any]

    async def _ask(self, method: Method[Any, Any], params: Any) -> Any:
        return await self.agent.connection.call(method, params, deadline=self.agent.deadline("call"))

    async def archive_session(self, id: str, archived: bool) -> None:
        if archived:
            await self._ask(self.methods.SESSION_ARCHIVE, self.words.ArchiveSessionRequest(session_id=id))
        else:
            await self._ask(self.methods.SESSION_UNARCHIVE, self.words.UnarchiveSessionRequest(session_id=id))

    async def session_status(self, id: str) -> str:
        answer = await self._ask(self.methods.SESSION_STATUS, self.words.SessionStatusRequest(session_id=id))
        return str(answer.status)

    async def set_title(self, id: str, title: str) -> str:
        request = self.words.SetSessionTitleRequest(session_id=id, title=title)
        return str((await self._ask(self.methods.SESSION_SET_TITLE, request)).title)

    async def auth_status(self) -> dict[str, Any]:
        status: dict[str, Any] = plain(await self._ask(self.methods.AUTH_STATUS, self.words.AuthStatusRequest()))
        return status if status["state"] in _AUTH_STATES else {**status, "state": "unknown"}

    async def list_providers(self) -> list[dict[str, Any]]:
        answer = await self._ask(self.methods.PROVIDERS_LIST, self.words.ListProvidersRequest())
        providers: list[dict[str, Any]] = plain(answer.providers)
        return providers

    async def set_provider(self, id: str, api_type: str, base_url: str, headers: dict[str, str]) -> None:
        request = self.words.SetProviderRequest(provider_id=id, api_type=api_type, base_url=base_url)
        if headers:
            request.headers = headers
        await self._ask(self.methods.PROVIDERS_SET, request)

    async def disable_provider(self, id: str) -> None:
        await self._ask(self.methods.PROVIDERS_DISABLE, self.words.DisableProviderRequest(provider_id=id))

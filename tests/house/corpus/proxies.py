"""Proxies, right and wrong. Checked by type checkers, and never run."""

from __future__ import annotations

from typing import Any, assert_type

import accord
from accord import v1, v2
from accord.proxy import Conductor, Notification, Proxy, Request, chain, run, to_agent, to_client


class Right(Proxy):
    @to_agent(v1.methods.SESSION_PROMPT)
    async def prompt(self, request: Request[v1.PromptRequest, v1.PromptResponse]) -> v1.PromptResponse:
        assert_type(request.params, v1.PromptRequest)
        response = await request.forward()
        assert_type(response, v1.PromptResponse)
        await self.client.notify(v1.methods.SESSION_CANCEL, v1.CancelNotification(session_id="s"))
        mode = v1.SetSessionModeRequest(session_id="s", mode_id="m")
        assert_type(await self.agent.request(v1.methods.SESSION_SET_MODE, mode), v1.SetSessionModeResponse)
        return await request.forward(v1.PromptRequest(session_id="s", prompt=[]))

    @to_client(v2.methods.SESSION_UPDATE)
    async def update(self, notification: Notification[v2.UpdateSessionNotification]) -> None:
        await notification.forward()

    @to_agent("_vendor/method", ordered=False)
    async def vendor(self, request: Request[Any, Any]) -> Any:
        return await self.agent.request("_vendor/other", {"a": 1})


async def right() -> None:
    async with accord.connect(chain(Right(), Right(), "my-agent", cwd="/project")) as agent:
        assert_type(agent, accord.ConnectedAgent)
    run(Right(), ["my-agent"])
    run(Conductor(Right(), "my-agent"))


class Wrong(Proxy):
    @to_agent(v1.methods.SESSION_PROMPT)  # wrong
    async def of_another_version(self, request: Request[v2.PromptRequest, v2.PromptResponse]) -> v2.PromptResponse:
        return await request.forward()

    @to_agent(v1.methods.SESSION_CANCEL)  # wrong
    async def no_request(self, request: Request[v1.CancelNotification, None]) -> None: ...

    @to_agent(v1.methods.SESSION_PROMPT)
    async def changes(self, request: Request[v1.PromptRequest, v1.PromptResponse]) -> v1.PromptResponse:
        request.params.promt = []  # wrong
        await request.forward("text")  # wrong
        await self.agent.request(v1.methods.SESSION_SET_MODE, request.params)  # wrong
        return request.forward()  # wrong


def wrong() -> None:
    run(Wrong)  # wrong
    Conductor(1)  # wrong
    to_agent(3)  # wrong

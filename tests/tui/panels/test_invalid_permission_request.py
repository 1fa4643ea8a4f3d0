"""An invalid permission request is visible to the user."""

from __future__ import annotations

from typing import Any

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.testing import ScriptedAgent
from accord.tui.panels.permission import PermissionPanel


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("options", "why"),
    [([], "options"), ([{"name": "Yes", "kind": "allow_once"}], "options[0].optionId is missing")],
)
async def test_an_invalid_permission_request_is_reported_in_the_transcript(
    opened: Opened, version: int, options: list[Any], why: str
) -> None:
    async def ask(turn: Turn) -> None:
        call = {"toolCallId": "a", "title": "Run", "kind": "execute"}
        about = {"title": "Run", "subject": {"type": "tool_call", "toolCall": call}}
        asked = {"sessionId": turn.session.id, "options": options, **({"toolCall": call} if version == 1 else about)}
        try:
            answer = await turn.request("session/request_permission", asked)
            await turn.say(f"It was {answer['outcome']['outcome']}.")
        except RequestFailed:
            await turn.say("It was no.")

    async with opened(ScriptedAgent([ask]), versions=(version,)) as chat:
        await chat.send("go")
        await chat.until("It was ")
        await chat.until("asked for permission with an invalid request, which was refused")
        await chat.until(why)
        assert not chat.tab.query(PermissionPanel)

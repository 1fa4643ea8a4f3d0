"""Background commands in a conversation: the model is reminded of their end, and the user can cancel them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import coder
from coder.test_loop import call
from support.link import until

from accord.coder.history import Reminder
from accord.policy.sources import parse_flags

Join = Callable[..., Any]


def reminders(request: Any) -> list[str]:
    return [each.text for each in request.messages if isinstance(each, Reminder)]


async def test_the_model_is_reminded_once_of_a_command_that_has_ended(joined: Join, project: Path) -> None:
    os.mkfifo(project / "fifo")
    start = call("run_command", command="read line < fifo; exit 3", background=True)
    agent, model = coder([start], ["started"], ["ok"], ["ok"], tools=None, rules=parse_flags(allow=["all"]))
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("start it")
        (shown,) = turn.tool_calls
        (project / "fifo").write_text("go\n")
        await until(lambda: session.transcript.tool_calls[shown.id].status == "completed")
        await session.prompt("what now?")
        await session.prompt("and now?")
    (text,) = reminders(model.requests[2])
    assert "Background commands have ended:\n- cmd-" in text
    assert "(`read line < fifo; exit 3`): exit 3" in text
    assert reminders(model.requests[3]) == [text], "once, in its place in the history"


class TestCancelled:
    """Version 2, where one tool call can be cancelled alone."""

    @pytest.fixture
    def joined(self, request: pytest.FixtureRequest, project: Path) -> Callable[..., Any]:
        from accord.testing import link

        return lambda agent, **options: link(agent, version=2, cwd=str(project), **options)

    async def test_the_user_can_cancel_it_in_the_client(self, joined: Join, project: Path) -> None:
        os.mkfifo(project / "fifo")
        start = call("run_command", command="read line < fifo", background=True)
        agent, model = coder([start], ["started"], ["ok"], tools=None, rules=parse_flags(allow=["all"]))
        async with joined(agent) as client:
            session = await client.new_session()
            (shown,) = (await session.prompt("start it")).tool_calls
            await session.cancel_tool_call(shown.id)
            await until(lambda: session.transcript.tool_calls[shown.id].status == "cancelled")
            await session.prompt("what now?")
        assert "stopped" in reminders(model.requests[2])[0]

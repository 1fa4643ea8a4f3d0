"""Permission answers for a limited time, and the panel in a small window."""

from __future__ import annotations

import time
import tomllib

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.config.directories import remembered_file
from accord.testing import ScriptedAgent

pytestmark = pytest.mark.usefixtures("seen_at_once")

OLD = "".join(f"line {number}\n" for number in range(1, 12))


async def change(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", OLD, OLD.replace("line 6\n", "line six\n"))
        answer = await tool.permit(always=True)
    await turn.say(f"answered {answer}")


async def test_an_answer_can_be_remembered_for_an_hour(opened: Opened) -> None:
    async with opened(ScriptedAgent([change, change])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("down", "t")
        await chat.until("remembers for an hour: write:greet.py")
        await chat.until("in this project, saved in ~/")
        await chat.press("enter")
        await chat.until("answered")
        (rule,) = tomllib.loads(remembered_file().read_text())["rule"]
        assert abs(rule["expires"].timestamp() - time.time() - 3600) < 600
        await chat.send("again")
        await chat.until(lambda: chat.text.count("answered") == 2)


async def test_an_answer_for_the_session_is_not_written_to_disk(opened: Opened) -> None:
    async with opened(ScriptedAgent([change, change])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("t", "t", "t", "down")
        await chat.until("· not saved on disk")
        await chat.press("a")
        await chat.until("answered")
        assert not remembered_file().exists()
        await chat.send("again")
        await chat.until(lambda: chat.text.count("answered") == 2)


async def test_the_agent_gets_the_one_time_answer_for_a_limited_duration(opened: Opened) -> None:
    async with opened(ScriptedAgent([change])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("t", "a")
        await chat.until("answered")
        log = chat.tab.controller.process.log
        said = b"".join(line.line for line in log.since(0) if b'"optionId"' in line.line and line.kind == "out")
        assert b"always" not in said and b"selected" in said


async def test_a_permanent_answer_has_no_expiry_date(opened: Opened) -> None:
    async with opened(ScriptedAgent([change])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("t", "t", "t", "t", "a")
        await chat.until("answered")
        (rule,) = tomllib.loads(remembered_file().read_text())["rule"]
        assert "expires" not in rule


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (40, 12)])
async def test_the_action_is_visible_before_it_is_answered(opened: Opened, size: tuple[int, int]) -> None:
    async with opened(ScriptedAgent([change]), size=size) as chat:
        await chat.send("go")
        await chat.until("number or")
        top = next(place for place, line in enumerate(chat.lines) if "Permission needed" in line)
        panel = chat.lines[top:]
        text = "\n".join(panel)
        assert "Change greet.py" in text
        assert any("- line 6" in line for line in panel) and any("+ line six" in line for line in panel), text
        assert "❯ 1. " in text
        assert any(line.strip().startswith("? waiting for you") for line in chat.lines[-2:])


async def test_answers_that_do_not_fit_can_be_scrolled_to(opened: Opened) -> None:
    async with opened(ScriptedAgent([change]), size=(40, 11)) as chat:
        await chat.send("go")
        await chat.until("more answers")
        await chat.until("number or")
        await chat.press("down", "down")
        await chat.until("❯ 3. ")
        assert "more answers" not in chat.text


async def test_an_answer_is_permanent_if_the_agent_offers_nothing_else(opened: Opened) -> None:
    options = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]

    async def ask(turn: Turn) -> None:
        call = {"toolCallId": "a", "title": "Run", "kind": "execute", "rawInput": {"command": "ls -l"}}
        asked = {"sessionId": turn.session.id, "toolCall": call, "options": options}
        await turn.request("session/request_permission", asked)
        await turn.say("answered")

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("t")
        await chat.until("remembers for an hour")
        (always,) = (line for line in chat.lines if "1. Always" in line)
        (never,) = (line for line in chat.lines if "2. Never" in line)
        assert "remembers: " in always and "remembers for an hour: " in never
        await chat.press("1")
        await chat.until("answered")
        (rule,) = tomllib.loads(remembered_file().read_text())["rule"]
        assert "expires" not in rule


async def test_there_is_no_duration_hint_if_it_cannot_be_changed(opened: Opened) -> None:
    async def ask(turn: Turn) -> None:
        call = {"toolCallId": "a", "title": "Run", "kind": "execute", "rawInput": {"command": "ls -l"}}
        options = [{"optionId": "always", "name": "Always", "kind": "allow_always"}]
        asked = {"sessionId": turn.session.id, "toolCall": call, "options": options}
        await turn.request("session/request_permission", asked)

    async with opened(ScriptedAgent([ask])) as chat:
        await chat.send("go")
        await chat.until("number or")
        assert "t duration" not in chat.text

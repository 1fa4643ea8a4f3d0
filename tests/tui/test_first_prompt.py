"""A prompt and options from the command line: the first session is set up, then gets the prompt."""

from __future__ import annotations

from pathlib import Path

from support.tui_driver import Opened

from accord.client.session import Session
from accord.errors import AccordError
from accord.testing import ScriptedAgent
from accord.tui.prompt.drafts import Drafts, Unsent


async def test_the_prompt_is_sent_as_soon_as_the_session_is_set_up(opened: Opened) -> None:
    agent = ScriptedAgent()
    prompts_before: list[str] = []

    async def set_up(session: Session) -> None:
        prompts_before.extend(agent.prompts)

    async with opened(agent, first_prompt="fix the test", first_setup=set_up) as chat:
        await chat.until("You said: fix the test")
        assert (prompts_before, agent.prompts) == ([], ["fix the test"])


async def test_after_a_failed_set_up_the_prompt_is_on_hold_and_the_reason_shown(opened: Opened) -> None:
    agent = ScriptedAgent()

    async def set_up(session: Session) -> None:
        raise AccordError("model can't be 'x'; available: fast, slow")

    async with opened(agent, first_prompt="fix the test", first_setup=set_up) as chat:
        await chat.until("available: fast, slow")
        await chat.until("1 queued, on hold")
        assert agent.prompts == []
        await chat.press("enter")
        await chat.until("You said: fix the test")


async def test_prompts_left_by_an_earlier_client_are_not_sent_with_the_first_one(opened: Opened, folders: Path) -> None:
    drafts = Drafts()
    drafts.save(str(folders), Unsent("", ("old",)))
    drafts.close()
    agent = ScriptedAgent()
    async with opened(agent, first_prompt="new") as chat:
        await chat.until("1 queued, on hold")
        assert (agent.prompts, chat.tab.editor.text) == ([], "new")

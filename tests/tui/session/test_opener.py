"""Sessions continued from the command line, and empty sessions, which leave no trace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.tui_driver import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.client.connect import connect
from accord.store.base import Page
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent
from accord.testing.script import Step
from accord.tui.agent import session_locks as locks
from accord.tui.agent.session_locks import SessionLocks


class Keeping(ScriptedAgent):
    """An agent that saves its sessions."""

    def __init__(self, *turns: Sequence[Step]) -> None:
        super().__init__(*turns)
        self.store = MemoryStore()


async def create_sessions(agent: Agent, cwd: Path, *prompts: str) -> list[str]:
    """Create sessions with messages, and return their ids."""
    ids = []
    async with connect(agent, cwd=cwd) as there:
        for prompt in prompts:
            session = await there.new_session()
            await session.prompt(prompt)
            ids.append(session.id)
    return ids


async def list_session_ids(agent: Agent) -> list[str]:
    return [info.id for info in (await agent.kept.list()).sessions]


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_opens_the_newest_session_of_the_directory(opened: Opened, folders: Path, version: int) -> None:
    agent = Keeping()
    open_elsewhere = folders.parent / "elsewhere"
    open_elsewhere.mkdir()
    old, new = await create_sessions(agent, folders, "about pears", "about apples")
    await create_sessions(agent, open_elsewhere, "about figs")
    async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
        await chat.until("You said: about apples")
        assert chat.tab.controller.id == new != old


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_without_an_earlier_session_opens_a_new_one_with_a_notice(opened: Opened, version: int) -> None:
    async with opened(Keeping(), first=(None, "newest"), versions=(version,)) as chat:
        await chat.until("This is a new session")
        await chat.until("There is no earlier session in this directory")
        await chat.send("hello")
        await chat.until("You said: hello")


async def test_continue_explains_why_an_agent_without_saved_sessions_opens_a_new_one(opened: Opened) -> None:
    async with opened(ScriptedAgent(), first=(None, "newest")) as chat:
        await chat.until("This agent can't continue earlier sessions")
        await chat.send("hello")
        await chat.until("You said: hello")


class Foreign(Keeping):
    """An agent that lists its sessions with the newest last."""

    async def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> Page:
        page = await self.kept.list(cwd=cwd)
        return Page(sessions=page.sessions[::-1])


async def test_the_newest_session_is_found_whatever_order_the_agent_uses(opened: Opened, folders: Path) -> None:
    agent = Foreign()
    first, second = await create_sessions(agent, folders, "about pears", "about apples")
    for id, at in ((first, "2026-01-01T00:00:00Z"), (second, "2026-02-01T00:00:00Z")):
        info = await agent.kept.get(id)
        assert info is not None
        info.updated_at = at
        await agent.kept.update(info)
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about apples")


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_is_opened_by_a_prefix_of_its_id(opened: Opened, folders: Path, version: int) -> None:
    agent = Keeping()
    first, second = await create_sessions(agent, folders, "about pears", "about apples")
    shared = len([one for one, other in zip(first, second, strict=False) if one == other])
    async with opened(agent, first=(first[: shared + 4].removeprefix("sess_"), "named"), versions=(version,)) as chat:
        await chat.until("You said: about pears")
        assert chat.tab.controller.id == first


async def test_an_ambiguous_id_opens_no_session_and_both_matches_are_listed(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    ids = await create_sessions(agent, folders, "about pears", "about apples")
    async with opened(agent, first=("sess_", "named"), wait=False) as chat:
        await chat.until("2 sessions start with 'sess_'")
        assert all(id[:20] in chat.text for id in ids)


async def test_a_missing_session_is_reported_and_nothing_else_is_opened(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    await create_sessions(agent, folders, "about pears")
    async with opened(agent, first=("nothing-like-it", "named"), wait=False) as chat:
        await chat.until("session nothing-like-it")
        await chat.until("ctrl+r new session · ctrl+o sessions")
        await chat.until("✗ no session")
        assert "gone" not in chat.text
        assert chat.tab.controller.session is None
        await chat.send("typed")
        told = "There is no session here: ctrl+r starts one. Your text is saved."
        await chat.until(lambda: chat.is_notified(told))
        assert chat.tab.editor.text == "typed"
        await chat.press("ctrl+r")
        await chat.ready()
        await chat.until("New session: the agent couldn't continue nothing-like-it")
        await chat.send("hello")
        await chat.until("You said: hello")


# -- sessions in which nothing was said


async def test_a_session_without_messages_is_deleted(opened: Opened) -> None:
    agent = Keeping()
    async with opened(agent) as chat:
        assert await list_session_ids(agent) == [chat.tab.controller.id]
    assert await list_session_ids(agent) == []


async def test_closing_a_tab_without_messages_deletes_its_session(opened: Opened) -> None:
    agent = Keeping()
    async with opened(agent) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        said = chat.tab.controller.id
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2 and chat.tab.controller.session is not None)
        assert len(await list_session_ids(agent)) == 2
        await chat.press("f9")
        await chat.until(lambda: len(chat.app.tabs) == 1)
        assert await list_session_ids(agent) == [said]
    assert await list_session_ids(agent) == [said]


async def test_a_session_in_which_the_agent_sent_the_first_message_is_not_deleted(opened: Opened) -> None:
    class Greeting(Keeping):
        async def session_opened(self, session: object, how: object) -> None:
            self.greeting = asyncio.create_task(self._greet(session))

        async def _greet(self, session: object) -> None:
            await session.say("good morning")  # type: ignore[attr-defined]

    agent = Greeting()
    async with opened(agent) as chat:
        await chat.until("good morning")
        id = chat.tab.controller.id
    assert await list_session_ids(agent) == [id]


async def test_an_earlier_session_is_not_deleted_if_nothing_was_added_to_it(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await create_sessions(agent, folders, "about pears")
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about pears")
    assert await list_session_ids(agent) == [id]


async def test_a_session_whose_prompt_failed_is_not_deleted(opened: Opened) -> None:
    async def fail(turn: Turn) -> None:
        raise ValueError("no")

    agent = Keeping([fail])
    async with opened(agent) as chat:
        await chat.send("hello")
        await chat.until("The turn failed")
        await chat.until("ValueError: no")
        assert "code -3" not in chat.text, "the log has the protocol's words"
        id = chat.tab.controller.id
    assert await list_session_ids(agent) == [id]


# -- the command line


@pytest.mark.parametrize("words", [["-c", "--session", "x"], ["chat", "-c", "--session", "x"]])
def test_continue_and_session_cannot_be_combined(words: list[str]) -> None:
    from accord.cli.main import accord

    done = CliRunner().invoke(accord, words)
    assert done.exit_code == 2
    assert "use --continue or --session, not both" in done.output


def test_continue_before_a_command_is_rejected() -> None:
    from accord.cli.main import accord

    done = CliRunner().invoke(accord, ["--continue", "run", "hello"])
    assert done.exit_code == 2
    assert "after the command" in done.output


# -- sessions of other clients


@contextmanager
def open_elsewhere(id: str) -> Iterator[None]:
    """Open a session in another client. It runs in this process, so it needs separate locks."""
    other, ours = SessionLocks(lambda: "memory"), locks._held
    theirs: dict[Path, Any] = {}
    locks._held = theirs
    other.add(id)
    locks._held = ours
    try:
        yield
    finally:
        locks._held = theirs
        other.close()
        locks._held = ours


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_skips_an_empty_session_of_another_client(opened: Opened, folders: Path, version: int) -> None:
    agent = Keeping()
    (said,) = await create_sessions(agent, folders, "about pears")
    async with connect(agent, cwd=folders) as there:
        begun = (await there.new_session()).id
        async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
            await chat.until("You said: about pears")
            assert chat.tab.controller.id == said
        assert begun in await list_session_ids(agent)


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_starts_a_new_session_if_none_has_messages(opened: Opened, folders: Path, version: int) -> None:
    agent = Keeping()
    async with connect(agent, cwd=folders) as there:
        begun = [(await there.new_session()).id for _ in range(2)]
        async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
            await chat.until("There is no earlier session in this directory")
            assert chat.tab.controller.id not in begun
            await chat.send("hello")
            await chat.until("You said: hello")


async def test_opening_a_session_that_another_client_has_open_shows_a_warning(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await create_sessions(agent, folders, "about pears")
    with open_elsewhere(id):
        async with opened(agent, first=(None, "newest")) as chat:
            await chat.until("This session is open in another window")
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about pears")
        assert "open in another window" not in chat.text


async def test_an_empty_session_that_another_client_has_open_is_not_deleted(opened: Opened) -> None:
    agent = Keeping()
    with ExitStack() as other:
        async with opened(agent) as chat:
            id = chat.tab.controller.id
            assert id is not None
            other.enter_context(open_elsewhere(id))
        assert await list_session_ids(agent) == [id]


async def test_a_session_continued_after_its_agent_died_keeps_its_lock(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await create_sessions(agent, folders, "about pears")
    async with opened(agent, first=(id, "named")) as chat:
        assert chat.tab.controller.process.agent is not None
        await chat.tab.controller.process.agent.connection.transport.close()
        await chat.until(lambda: chat.tab.controller.state == "gone")
        await chat.press("ctrl+r")
        await chat.until("The agent was restarted and continues this session")
        assert "open in another window" not in chat.text
    assert list((folders.parent / "data" / "chat" / "open").iterdir()) == []

"""The terminal client: sessions that are gone on with from the command line, and those that leave no trace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from chatting import Opened
from click.testing import CliRunner

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.client.connect import connect
from accord.store.base import Page
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent
from accord.testing.scripted import Step
from accord.tui import elsewhere as locks
from accord.tui.elsewhere import OpenHere


class Keeping(ScriptedAgent):
    """Keeps its sessions."""

    def __init__(self, *turns: Sequence[Step]) -> None:
        super().__init__(*turns)
        self.store = MemoryStore()


async def talked(agent: Agent, cwd: Path, *prompts: str) -> list[str]:
    """Has sessions in which something was said; gives their ids."""
    ids = []
    async with connect(agent, cwd=cwd) as there:
        for prompt in prompts:
            session = await there.new_session()
            await session.prompt(prompt)
            ids.append(session.id)
    return ids


async def kept(agent: Agent) -> list[str]:
    return [info.id for info in (await agent.kept.list()).sessions]


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_goes_on_with_the_newest_session_of_the_folder(
    opened: Opened, folders: Path, version: int
) -> None:
    agent = Keeping()
    elsewhere = folders.parent / "elsewhere"
    elsewhere.mkdir()
    old, new = await talked(agent, folders, "about pears", "about apples")
    await talked(agent, elsewhere, "about figs")
    async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
        await chat.until("You said: about apples")
        assert chat.pane.talk.id == new != old


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_without_an_earlier_session_begins_one_and_says_so(opened: Opened, version: int) -> None:
    async with opened(Keeping(), first=(None, "newest"), versions=(version,)) as chat:
        await chat.until("This is a new session")
        await chat.until("There is no earlier session of this folder")
        await chat.send("hello")
        await chat.until("You said: hello")


async def test_continue_with_an_agent_that_keeps_nothing_says_why_it_begins_anew(opened: Opened) -> None:
    async with opened(ScriptedAgent(), first=(None, "newest")) as chat:
        await chat.until("This agent cannot go on with earlier sessions")
        await chat.send("hello")
        await chat.until("You said: hello")


class Foreign(Keeping):
    """Lists its sessions itself, the newest last, as others do."""

    async def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> Page:
        page = await self.kept.list(cwd=cwd)
        return Page(sessions=page.sessions[::-1])


async def test_the_newest_session_is_the_newest_however_an_agent_sorts_them(opened: Opened, folders: Path) -> None:
    agent = Foreign()
    first, second = await talked(agent, folders, "about pears", "about apples")
    for id, at in ((first, "2026-01-01T00:00:00Z"), (second, "2026-02-01T00:00:00Z")):
        info = await agent.kept.get(id)
        assert info is not None
        info.updated_at = at
        await agent.kept.update(info)
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about apples")


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_is_opened_by_the_beginning_of_its_id(opened: Opened, folders: Path, version: int) -> None:
    agent = Keeping()
    first, second = await talked(agent, folders, "about pears", "about apples")
    shared = len([one for one, other in zip(first, second, strict=False) if one == other])
    async with opened(agent, first=(first[: shared + 4].removeprefix("sess_"), "named"), versions=(version,)) as chat:
        await chat.until("You said: about pears")
        assert chat.pane.talk.id == first


async def test_an_id_that_begins_two_sessions_opens_neither_and_both_are_named(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    ids = await talked(agent, folders, "about pears", "about apples")
    async with opened(agent, first=("sess_", "named"), wait=False) as chat:
        await chat.until("2 sessions begin with 'sess_'")
        assert all(id[:20] in chat.text for id in ids)


async def test_a_session_that_is_not_there_is_named_and_nothing_else_is_opened(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    await talked(agent, folders, "about pears")
    async with opened(agent, first=("nothing-like-it", "named"), wait=False) as chat:
        await chat.until("session nothing-like-it")
        await chat.until("ctrl+r begins a new one · ctrl+o shows those there are")
        await chat.until("✗ no session")
        assert "gone" not in chat.text
        assert chat.pane.talk.session is None
        await chat.send("typed")
        told = "There is no session here: ctrl+r begins one. What you typed is kept."
        await chat.until(lambda: told in [each.message for each in chat.app._notifications])
        assert chat.pane.editor.text == "typed"
        await chat.press("ctrl+r")
        await chat.ready()
        await chat.until("A new session: the agent could not go on with nothing-like-it")
        await chat.send("hello")
        await chat.until("You said: hello")


# -- sessions in which nothing was said


async def test_a_session_in_which_nothing_was_said_is_not_left_behind(opened: Opened) -> None:
    agent = Keeping()
    async with opened(agent) as chat:
        assert await kept(agent) == [chat.pane.talk.id]
    assert await kept(agent) == []


async def test_closing_a_tab_in_which_nothing_was_said_leaves_none_behind(opened: Opened) -> None:
    agent = Keeping()
    async with opened(agent) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        said = chat.pane.talk.id
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.panes) == 2 and chat.pane.talk.session is not None)
        assert len(await kept(agent)) == 2
        await chat.press("f9")
        await chat.until(lambda: len(chat.app.panes) == 1)
        assert await kept(agent) == [said]
    assert await kept(agent) == [said]


async def test_a_session_in_which_the_agent_spoke_first_stays(opened: Opened) -> None:
    class Greeting(Keeping):
        async def session_opened(self, session: object, how: object) -> None:
            self.greeting = asyncio.create_task(self._greet(session))

        async def _greet(self, session: object) -> None:
            await session.say("good morning")  # type: ignore[attr-defined]

    agent = Greeting()
    async with opened(agent) as chat:
        await chat.until("good morning")
        id = chat.pane.talk.id
    assert await kept(agent) == [id]


async def test_an_earlier_session_stays_though_nothing_was_added_to_it(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await talked(agent, folders, "about pears")
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about pears")
    assert await kept(agent) == [id]


async def test_a_session_stays_when_its_prompt_was_refused_too(opened: Opened) -> None:
    async def fail(turn: Turn) -> None:
        raise ValueError("no")

    agent = Keeping([fail])
    async with opened(agent) as chat:
        await chat.send("hello")
        await chat.until("The turn failed")
        id = chat.pane.talk.id
    assert await kept(agent) == [id]


# -- the command line


@pytest.mark.parametrize("words", [["-c", "--session", "x"], ["chat", "-c", "--session", "x"]])
def test_one_session_can_be_named_in_one_way_only(words: list[str]) -> None:
    from accord.cli.main import accord

    done = CliRunner().invoke(accord, words)
    assert done.exit_code == 2
    assert "--continue and --session each name a session" in done.output


def test_continue_without_a_terminal_says_what_to_do() -> None:
    from accord.cli.main import accord

    done = CliRunner().invoke(accord, ["chat", "--continue"], input="hello")
    assert done.exit_code == 2
    assert "--session ID" in done.output


def test_continue_before_a_command_is_refused() -> None:
    from accord.cli.main import accord

    done = CliRunner().invoke(accord, ["--continue", "run", "hello"])
    assert done.exit_code == 2
    assert "goes behind the command" in done.output


# -- sessions of other clients


@contextmanager
def elsewhere(id: str) -> Iterator[None]:
    """Another client has a session open. It is of this process, and so needs locks of its own."""
    other, ours = OpenHere(lambda: "memory"), locks._held
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
async def test_continue_leaves_alone_what_another_client_has_just_begun(
    opened: Opened, folders: Path, version: int
) -> None:
    agent = Keeping()
    (said,) = await talked(agent, folders, "about pears")
    async with connect(agent, cwd=folders) as there:
        begun = (await there.new_session()).id
        async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
            await chat.until("You said: about pears")
            assert chat.pane.talk.id == said
        assert begun in await kept(agent)


@pytest.mark.parametrize("version", [1, 2])
async def test_continue_begins_a_session_where_nothing_was_said_in_any(
    opened: Opened, folders: Path, version: int
) -> None:
    agent = Keeping()
    async with connect(agent, cwd=folders) as there:
        begun = [(await there.new_session()).id for _ in range(2)]
        async with opened(agent, first=(None, "newest"), versions=(version,)) as chat:
            await chat.until("There is no earlier session of this folder")
            assert chat.pane.talk.id not in begun
            await chat.send("hello")
            await chat.until("You said: hello")


async def test_a_session_that_another_client_has_open_is_announced(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await talked(agent, folders, "about pears")
    with elsewhere(id):
        async with opened(agent, first=(None, "newest")) as chat:
            await chat.until("This session is open in another client, too")
    async with opened(agent, first=(None, "newest")) as chat:
        await chat.until("You said: about pears")
        assert "open in another client" not in chat.text


async def test_a_session_in_which_another_client_speaks_is_not_forgotten_here(opened: Opened) -> None:
    agent = Keeping()
    with ExitStack() as other:
        async with opened(agent) as chat:
            id = chat.pane.talk.id
            assert id is not None
            other.enter_context(elsewhere(id))
        assert await kept(agent) == [id]


async def test_a_session_that_goes_on_after_its_agent_died_is_nobody_elses(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    (id,) = await talked(agent, folders, "about pears")
    async with opened(agent, first=(id, "named")) as chat:
        assert chat.pane.talk.link.agent is not None
        await chat.pane.talk.link.agent.connection.transport.close()
        await chat.until(lambda: chat.pane.talk.state == "gone")
        await chat.press("ctrl+r")
        await chat.until("The agent is there again and goes on with this session")
        assert "open in another client" not in chat.text
    assert list((folders.parent / "data" / "chat" / "open").iterdir()) == []

"""The rows of the session list: when, how many messages, the latest prompt, and one-off runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.tui_driver import Chat, Opened

from accord.client.connect import connect
from accord.model.session import ONE_OFF
from accord.store.sqlite import SqliteStore
from accord.testing import ScriptedAgent
from accord.tui.screens.sessions import ONE_OFF_GROUP, format_age

NOW = datetime(2026, 5, 20, 12, 0).astimezone()


class Ours(ScriptedAgent):
    """An agent with the name and the session store of the built-in agent."""

    name = "accord"

    def __init__(self) -> None:
        super().__init__()
        self.store = SqliteStore()


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=5, seconds=50), "5 min ago"),
        (timedelta(minutes=119), "1 h ago"),
        (timedelta(hours=11), "11 h ago"),
        (timedelta(hours=20), "yesterday"),
        (timedelta(days=4), "4 days ago"),
        (timedelta(days=60), "2026-03-21"),
        (timedelta(hours=-3), "2026-05-20 15:00"),
    ],
)
def test_the_age_of_a_session_is_relative_until_a_date_says_more(age: timedelta, text: str) -> None:
    assert format_age((NOW - age).isoformat(), NOW) == text


@pytest.mark.parametrize("text", [None, "", "soon", "2026-13-01"])
def test_an_invalid_time_is_left_out(text: str | None) -> None:
    assert format_age(text, NOW) == ""


def rows(chat: Chat) -> list[str]:
    """The rows of the open list, with headings."""
    return [f"{row.group}: {row.label} · {row.about}" for row in chat.app.screen._rows]  # type: ignore[attr-defined]


async def test_the_built_in_agents_sessions_show_their_messages_and_one_off_runs_come_last(
    opened: Opened, folders: Path
) -> None:
    agent = Ours()
    async with connect(agent, cwd=folders) as there:
        for prompts, meta in (
            (("Fix the bug", "Now test it"), None),
            (("Run once",), {ONE_OFF: True}),
            (("Run once", "Go on with it"), {ONE_OFF: True}),
            (("Something else",), {ONE_OFF: "yes"}),
        ):
            session = await there.new_session(meta=meta)
            for prompt in prompts:
                await session.prompt(prompt)
            info = await agent.store.get(session.id)
            assert info is not None
            info.title = prompts[0]
            await agent.store.update(info)
    async with opened(agent) as chat:
        await chat.press("ctrl+o")
        await chat.until("4 messages · “Now test it”")
        found = [row for row in rows(chat) if "untitled" not in row]
        assert [row.partition(" · ")[0] for row in found] == [
            ": Something else",
            ": Run once",
            ": Fix the bug",
            f"{ONE_OFF_GROUP}: Run once",
        ]
        assert "just now · 2 messages · sess_" in found[0].replace(found[0].rpartition(" ")[2], "sess_")
        assert "4 messages · “Go on with it”" in found[1]
    await agent.store.close()


async def test_a_summary_counts_the_messages_of_both_sides(tmp_path: Path) -> None:
    agent = Ours()
    agent.store = store = SqliteStore(tmp_path / "sessions.db")
    async with connect(agent, cwd=tmp_path) as there:
        session, empty = await there.new_session(), await there.new_session()
        await session.prompt("first")
        await session.prompt("second")
        found = await store.summarize([session.id, empty.id, "sess_unknown"])
    assert list(found) == [session.id]
    assert (found[session.id].messages, found[session.id].prompts, found[session.id].preview) == (4, 2, "second")
    await store.close()

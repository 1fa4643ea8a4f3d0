"""The session list: open, rename, delete and export sessions."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.turn import Turn
from accord.client.connect import connect
from accord.store.memory import MemoryStore
from accord.store.sqlite import SqliteStore
from accord.testing import ScriptedAgent
from accord.testing.script import Step
from accord.transcript.transcript import Transcript
from accord.tui.export import FORMATS, copy_for_export, document, find_free_path, resolve_path, write


class Keeping(ScriptedAgent):
    """An agent that saves its sessions."""

    unstable = True

    def __init__(self, *turns: Sequence[Step]) -> None:
        super().__init__(*turns)
        self.store = MemoryStore()


class Ours(ScriptedAgent):
    """An agent with the name and the session store of the built-in agent."""

    name = "accord"

    def __init__(self) -> None:
        super().__init__()
        self.store = SqliteStore()


async def create_sessions(agent: ScriptedAgent, cwd: Path, *prompts: str) -> list[str]:
    """Create sessions with messages, and return their ids."""
    ids = []
    async with connect(agent, cwd=cwd, unstable=True) as there:
        for prompt in prompts:
            session = await there.new_session()
            await session.prompt(prompt)
            await agent.kept.update(_with_title(await agent.kept.get(session.id), prompt.split()[0]))
            ids.append(session.id)
    return ids


def _with_title(info: object, title: str) -> object:
    info.title = title  # type: ignore[attr-defined]
    return info


async def in_list(chat: Chat, title: str) -> None:
    """Open the session list with one session selected."""
    await chat.press("ctrl+o")
    await chat.until("Sessions of")
    await chat.type(title)
    await chat.until(lambda: [row.label for row in chat.app.screen._shown if row] == [title])  # type: ignore[attr-defined]


async def test_renaming_a_listed_session_returns_to_the_list(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    apples, _ = await create_sessions(agent, folders, "Apples are", "Pears are")
    async with opened(agent) as chat:
        await in_list(chat, "Apples")
        await chat.press("f7")
        await chat.until("New title for “Apples”")
        await chat.press("ctrl+u")
        await chat.type("Figs")
        await chat.press("enter")
        await chat.until("Sessions of")
        await chat.until("Figs")
        info = await agent.kept.get(apples)
        assert info is not None
        assert info.title == "Figs"


async def test_deleting_a_listed_session_returns_to_the_list(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    apples, _ = await create_sessions(agent, folders, "Apples are", "Pears are")
    async with opened(agent) as chat:
        await in_list(chat, "Apples")
        await chat.press("f8")
        await chat.until("Delete “Apples”?")
        assert "type to search" not in chat.text
        await chat.press("down", "enter")
        await chat.until("Sessions of")
        await chat.until("Pears")
        assert "Apples" not in chat.text
        assert await agent.kept.get(apples) is None


@pytest.mark.parametrize(("key", "question"), [("f7", "New title for"), ("f8", "Delete “Apples”?"), ("f9", "Export")])
async def test_esc_in_a_dialog_about_a_session_returns_to_the_list(
    opened: Opened, folders: Path, key: str, question: str
) -> None:
    agent = Keeping()
    await create_sessions(agent, folders, "Apples are", "Pears are")
    async with opened(agent) as chat:
        await in_list(chat, "Apples")
        await chat.press(key)
        await chat.until(question)
        await chat.press("escape")
        await chat.gone(question)
        await chat.until("Sessions of")
        await chat.until("Pears")
        await chat.press("escape")
        await chat.gone("Sessions of")


@pytest.mark.parametrize("kind, place", [("md", 0), ("json", 1), ("html", 2)])
async def test_a_listed_session_is_exported_to_a_file(opened: Opened, folders: Path, kind: str, place: int) -> None:
    agent = Keeping()
    await create_sessions(agent, folders, "Apples are", "Pears are")
    async with opened(agent) as chat:
        await in_list(chat, "Apples")
        await chat.press("f9")
        await chat.until("Export as")
        await chat.press(*["down"] * place, "enter")
        await chat.until("File to write")
        await chat.until(f"apples.{kind}")
        await chat.press("enter")
        await chat.until(lambda: chat.is_notified("Exported to"))
        await chat.until("Sessions of")
    text = (folders / f"apples.{kind}").read_text()
    assert "You said: Apples are" in text
    assert "Pears" not in text
    if kind == "json":
        assert json.loads(text)["session"]["title"] == "Apples"


async def test_an_existing_file_is_replaced_only_after_confirmation(opened: Opened, folders: Path) -> None:
    (folders / "mine.md").write_text("precious")
    async with opened(ScriptedAgent()) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        for sure, text in ((False, "precious"), (True, "You said: hello")):
            chat.app.action_export()
            await chat.until("Export as")
            await chat.press("enter")
            await chat.until("File to write")
            await chat.press("ctrl+u")
            await chat.type("mine.md")
            await chat.press("enter")
            await chat.until("Replace it?")
            await chat.press(*(["down"] if sure else []), "enter")
            await chat.gone("Replace it?")
            if sure:
                await chat.until(lambda: chat.is_notified("Exported to"))
            assert text in (folders / "mine.md").read_text()


@pytest.mark.parametrize("name", ["none/mine.md", "~nobody-of-this-name/mine.md"])
async def test_a_missing_directory_is_reported(opened: Opened, folders: Path, name: str) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        chat.app.action_export()
        await chat.until("Export as")
        await chat.press("enter")
        await chat.until("File to write")
        await chat.press("ctrl+u")
        await chat.type(name)
        await chat.press("enter")
        await chat.until(lambda: chat.is_notified("Couldn't write the file"))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_document_is_rendered_in_the_thread_that_writes_it(tmp_path: Path, kind: str) -> None:
    made = []

    class Watched(Transcript):
        @property
        def timeline(self) -> Any:
            made.append(threading.current_thread())
            return []

        @timeline.setter
        def timeline(self, items: Any) -> None:
            pass

    pieces = document(Watched("s"), kind)
    assert not made
    thread = threading.Thread(target=write, args=(tmp_path / "file", pieces), kwargs={"replaces": False})
    thread.start()
    thread.join()
    assert set(made) == {thread} and (tmp_path / "file").stat().st_size > 0


def test_an_export_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    write(tmp_path / "new.md", ["private"], replaces=False)
    assert (tmp_path / "new.md").stat().st_mode & 0o077 == 0
    (tmp_path / "old.md").write_text("of all")
    (tmp_path / "old.md").chmod(0o644)
    write(tmp_path / "old.md", ["of us"], replaces=True)
    assert (tmp_path / "old.md").read_text() == "of us" and (tmp_path / "old.md").stat().st_mode & 0o077 == 0o044


async def test_an_export_includes_the_output_of_the_clients_terminals(opened: Opened) -> None:
    async def run(turn: Turn) -> None:
        script = "print('good ' + 'morning')"
        async with (
            turn.tool("Greet", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-I", "-S", "-c", script]) as terminal,
        ):
            await tool.show(terminal)
            await terminal.wait()
        await turn.say("so it is")

    async with opened(ScriptedAgent([run])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("so it is")
        transcript = chat.tab.controller.transcript
        assert transcript is not None
        for kind in ("md", "json", "html"):
            assert "good morning" in "".join(document(copy_for_export(transcript, chat.tab.controller.terminal), kind))


def test_an_unused_file_name_is_suggested(tmp_path: Path) -> None:
    assert find_free_path(tmp_path, "A day out!", "md").name == "a-day-out.md"
    (tmp_path / "a-day-out.md").write_text("")
    assert find_free_path(tmp_path, "A day out!", "md").name == "a-day-out-2.md"
    assert find_free_path(tmp_path, "///", "json").name == "conversation.json"


def test_a_directory_means_a_file_in_it(tmp_path: Path) -> None:
    usual = tmp_path / "x.md"
    assert resolve_path(".", tmp_path, usual) == tmp_path / "x.md"
    assert resolve_path("a/b.md", tmp_path, usual) == tmp_path / "a" / "b.md"
    write(usual, ["one"], replaces=False)
    with pytest.raises(FileExistsError):
        write(usual, ["two"], replaces=False)


async def test_sessions_of_the_built_in_agent_are_found_by_content(opened: Opened, folders: Path) -> None:
    agent = Ours()
    await create_sessions(agent, folders, "Apples and the wombat", "Pears are")
    async with opened(agent) as chat:
        await chat.press("ctrl+o")
        await chat.until("Pears")
        await chat.type("womb")
        await chat.until("“…said: Apples and the wombat”")
        assert "Pears" not in chat.text
        await chat.press("enter")
        await chat.until("You said: Apples and the wombat")
    await agent.store.close()


async def test_sessions_are_listed_newest_first_however_an_agent_sorts_them(opened: Opened, folders: Path) -> None:
    agent = Keeping()
    ids = await create_sessions(agent, folders, "Apples are", "Pears are", "Figs are")
    for day, id in zip((2, 3, 1), ids, strict=True):
        info = await agent.kept.get(id)
        assert info is not None
        info.updated_at = f"2026-01-0{day}T12:00:00Z"
        await agent.kept.update(info)
    async with opened(agent) as chat:
        await chat.press("ctrl+o")
        await chat.until(lambda: len(getattr(chat.app.screen, "_rows", [])) == 4)
        shown = [row.label for row in chat.app.screen._rows]  # type: ignore[attr-defined]
        assert shown[-3:] == ["Pears", "Apples", "Figs"]


async def test_a_search_without_results_shows_a_message(opened: Opened, folders: Path) -> None:
    async with opened(Keeping(["one"])) as chat:
        await chat.send("Pears")
        await chat.until("one")
        await chat.press("ctrl+o")
        await chat.until("type to search")
        await chat.type("zebra")
        await chat.until("no match for “zebra” in this directory: f4 shows others")
        await chat.press("f4")
        await chat.until("no match for “zebra”")
        await chat.gone("in this directory")
        await chat.press("enter")
        await chat.pilot.pause()
        assert "no match for" in chat.text

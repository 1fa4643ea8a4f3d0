"""Without a writable directory, one warning says what is lost; drafts are restored when there is one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from support.tui_driver import Memory, Opened, collect_notifications

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.prompt import history
from accord.tui.prompt.drafts import Drafts, Unsent


async def change(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", "a\n", "b\n")
        answer = await tool.permit(always=True)
    await turn.say(f"answered {answer}")


@pytest.fixture
def unwritable(folders: Path) -> Path:
    """A data directory that can't be written, not even by root."""
    data = folders.parent / "data"
    data.write_text("this is no folder")
    return data


def claim_draft(folder: Path, agent: str) -> str:
    """Return the draft that a new client with this agent would restore."""
    drafts = Drafts(folder)
    text = drafts.claim("/a", agent).text
    drafts.close()
    return text


@pytest.mark.usefixtures("unwritable")
async def test_an_answer_that_cannot_be_remembered_shows_a_warning(opened: Opened) -> None:
    async with opened(ScriptedAgent([change, change])) as chat:
        await chat.send("go")
        await chat.until("t duration")
        await chat.press("a")
        await chat.until("answered")
        await chat.until("Your answer couldn't be remembered")
        await chat.until("It applies to this session.")
        await chat.send("again")
        await chat.until(lambda: chat.text.count("answered") == 2)


@pytest.mark.usefixtures("unwritable")
async def test_prompts_drafts_and_settings_that_cannot_be_saved_warn_once_each(opened: Opened) -> None:
    async with opened(ScriptedAgent(["one"], ["two"])) as chat:
        await chat.send("first")
        await chat.until("Prompts can't be saved")
        await chat.send("second")
        await chat.until("two")
        assert chat.text.count("Prompts can't be saved") == 1
        for half in ("half", "half a prompt"):
            chat.tab.editor.set_text(half)
            chat.app.saved.save_drafts()
        await chat.until("Drafts can't be saved")
        assert chat.text.count("Drafts can't be saved") == 1
        await chat.press("f2", "f2")
        await chat.until("Settings can't be saved")
        assert chat.text.count("Settings can't be saved") == 1


@pytest.mark.usefixtures("unwritable")
async def test_a_save_error_before_the_session_is_shown_in_the_session(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False) as chat:
        chat.app.saved.save_preferences()
        await chat.ready()
        await chat.until("Settings can't be saved")


@pytest.mark.usefixtures("unwritable")
async def test_without_a_session_a_save_error_is_shown_beside_the_reason(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("there is no robot")
        told = collect_notifications(chat)
        await chat.send("half a prompt")
        await chat.until("Drafts can't be saved")
        consequence = "Send what you typed before you quit, or it will be lost."
        await chat.until(lambda: consequence in " ".join(chat.text.split()))  # wrapped where the path before it ends
        assert chat.tab.editor.text == "half a prompt"
        await chat.press("ctrl+c")
        assert "stays in the prompt, but can't be saved." in told[0]
        assert told[1] == "Press ctrl+c again to quit; unsent text can't be saved and will be lost."
        chat.app.host.fails = ""  # type: ignore[attr-defined]
        await chat.press("ctrl+r")
        await chat.ready()
        await chat.until("Drafts can't be saved")


async def test_drafts_are_saved_again_once_the_directory_is_writable(opened: Opened, unwritable: Path) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text("half a prompt")
        assert not chat.app.saved.try_save_drafts()
        os.remove(unwritable)
        assert chat.app.saved.try_save_drafts()
    async with opened(ScriptedAgent()) as chat:
        assert chat.tab.editor.text == "half a prompt"


@pytest.mark.usefixtures("unwritable")
async def test_a_crash_does_not_promise_that_unsaved_text_is_saved(
    opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    async def break_it() -> None:
        async with opened(ScriptedAgent()) as chat:
            await chat.type("half a prompt")
            chat.app.call_later(fail)
            await chat.until(lambda: not chat.app.is_running)

    with pytest.raises(ZeroDivisionError):
        await break_it()
    assert "Unsent text could not be saved." in capsys.readouterr().err


def test_a_full_disk_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "kept").write_text("before")
    monkeypatch.setattr(history.os, "replace", full)
    fault = history.replace(tmp_path / "kept", "after")
    assert fault is not None and fault.errno == errno.ENOSPC
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "before")]


def test_a_draft_that_cannot_be_claimed_stays_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Drafts(tmp_path)
    old.save("/a", "typed before")
    old.close()
    with monkeypatch.context() as full:
        full.setattr("accord.tui.prompt.drafts.replace", lambda path, text: OSError(errno.ENOSPC, "full"))
        assert claim_draft(tmp_path, "built-in") == "typed before"
    assert claim_draft(tmp_path, "built-in") == "typed before"


def test_settings_are_written_and_read_again(folders: Path) -> None:
    assert preferences.save(preferences.Preferences(theme="nord")) is None
    assert preferences.load().theme == "nord"


# -- whose draft it is


def test_a_draft_is_for_the_agent_it_was_typed_for(tmp_path: Path) -> None:
    typed = Drafts(tmp_path)
    typed.save_all("/a", {"built-in": Unsent("for the one"), "other": Unsent("for the other")})
    typed.close()
    found = [claim_draft(tmp_path, agent) for agent in ("third", "built-in", "other")]
    assert found == ["", "for the one", "for the other"]


def test_a_draft_that_names_no_agent_is_for_any(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('["/a", "typed long ago"]')
    assert claim_draft(tmp_path, "built-in") == "typed long ago"


async def test_the_draft_of_an_exiting_client_is_claimed_once_it_has_exited(opened: Opened, folders: Path) -> None:
    ending = Drafts()
    ending.save(str(folders), "typed before the window was closed")
    async with opened(ScriptedAgent()) as chat:
        assert chat.tab.editor.text == ""
        ending.close()
        await chat.until(lambda: chat.tab.editor.text == "typed before the window was closed")


async def test_a_draft_claimed_late_does_not_replace_typed_text(opened: Opened, folders: Path) -> None:
    ending = Drafts()
    ending.save(str(folders), "typed before the window was closed")
    async with opened(ScriptedAgent()) as chat:
        await chat.type("typed here")
        ending.close()
        chat.app.saved.update_drafts()
        assert chat.tab.editor.text == "typed here"
    left = Drafts()
    assert left.claim(str(folders)).text == "typed before the window was closed\n\ntyped here"
    left.close()


async def test_a_draft_is_not_restored_for_another_agent(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.type("my draft")
        chat.app.saved.save_drafts()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(Memory, "resolve_name", lambda self, target: "another")
        async with opened(ScriptedAgent()) as chat:
            assert chat.tab.editor.text == ""
    async with opened(ScriptedAgent()) as chat:
        assert chat.tab.editor.text == "my draft"

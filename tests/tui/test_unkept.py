"""Where nothing can be written the user is told what is lost, once; and a draft comes back only to its own agent."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from chatting import Memory, Opened, noted

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.prompt import history
from accord.tui.prompt.drafts import Drafts, Left


async def change(turn: Turn) -> None:
    async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:6"]) as tool:
        await tool.diff("greet.py", "a\n", "b\n")
        answer = await tool.permit(always=True)
    await turn.say(f"answered {answer}")


@pytest.fixture
def unwritable(folders: Path) -> Path:
    """A data folder in which nothing can be written, not even by root."""
    data = folders.parent / "data"
    data.write_text("this is no folder")
    return data


def claimed(folder: Path, agent: str) -> str:
    """What a client with this agent finds that starts now."""
    drafts = Drafts(folder)
    text = drafts.claim("/a", agent).text
    drafts.close()
    return text


@pytest.mark.usefixtures("unwritable")
async def test_an_answer_that_cannot_be_remembered_is_told(opened: Opened) -> None:
    async with opened(ScriptedAgent([change, change])) as chat:
        await chat.send("go")
        await chat.until("t how long")
        await chat.press("a")
        await chat.until("answered")
        await chat.until("Your answer could not be remembered")
        await chat.until("It holds for this session.")
        await chat.send("again")
        await chat.until(lambda: chat.text.count("answered") == 2)


@pytest.mark.usefixtures("unwritable")
async def test_prompts_drafts_and_settings_that_cannot_be_kept_are_told_once_each(opened: Opened) -> None:
    async with opened(ScriptedAgent(["one"], ["two"])) as chat:
        await chat.send("first")
        await chat.until("Prompts cannot be kept")
        await chat.send("second")
        await chat.until("two")
        assert chat.text.count("Prompts cannot be kept") == 1
        for half in ("half", "half a prompt"):
            chat.pane.editor.set_text(half)
            chat.app.keep_drafts()
        await chat.until("What you type cannot be kept")
        assert chat.text.count("What you type cannot be kept") == 1
        await chat.press("f2", "f2")
        await chat.until("Settings cannot be kept")
        assert chat.text.count("Settings cannot be kept") == 1


@pytest.mark.usefixtures("unwritable")
async def test_what_cannot_be_kept_before_there_is_a_session_is_told_in_it(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False) as chat:
        chat.app.keep_settings()
        await chat.ready()
        await chat.until("Settings cannot be kept")


@pytest.mark.usefixtures("unwritable")
async def test_where_there_is_no_session_it_is_told_beside_why(opened: Opened) -> None:
    async with opened(ScriptedAgent(), wait=False, fails="there is no robot") as chat:
        await chat.until("there is no robot")
        told = noted(chat)
        await chat.send("half a prompt")
        await chat.until("What you type cannot be kept")
        await chat.until("Send it before you leave, or it is lost.")
        assert chat.pane.editor.text == "half a prompt"
        await chat.press("ctrl+c")
        assert "stays in the prompt, but cannot be kept when you leave." in told[0]
        assert told[1] == "Press ctrl+c again to quit; what you typed cannot be kept and is lost."
        chat.app.outside.fails = ""  # type: ignore[attr-defined]
        await chat.press("ctrl+r")
        await chat.ready()
        await chat.until("What you type cannot be kept")


async def test_what_can_be_kept_again_is_kept(opened: Opened, unwritable: Path) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.pane.editor.set_text("half a prompt")
        assert not chat.app.keeps_typed()
        os.remove(unwritable)
        assert chat.app.keeps_typed()
    async with opened(ScriptedAgent()) as chat:
        assert chat.pane.editor.text == "half a prompt"


@pytest.mark.usefixtures("unwritable")
async def test_a_fault_of_ours_does_not_promise_what_was_not_kept(
    opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    async def break_it() -> None:
        async with opened(ScriptedAgent()) as chat:
            await chat.type("half a prompt")
            chat.app.call_later(broken)
            await chat.until(lambda: not chat.app.is_running)

    with pytest.raises(ZeroDivisionError):
        await break_it()
    assert "What you typed could not be kept." in capsys.readouterr().err


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "kept").write_text("before")
    monkeypatch.setattr(history.os, "replace", full)
    fault = history.replace(tmp_path / "kept", "after")
    assert fault is not None and fault.errno == errno.ENOSPC
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "before")]


def test_a_draft_that_cannot_be_taken_over_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Drafts(tmp_path)
    old.keep("/a", "typed before")
    old.close()
    with monkeypatch.context() as full:
        full.setattr("accord.tui.prompt.drafts.replace", lambda path, text: OSError(errno.ENOSPC, "full"))
        assert claimed(tmp_path, "built-in") == "typed before"
    assert claimed(tmp_path, "built-in") == "typed before"


def test_settings_are_written_and_read_again(folders: Path) -> None:
    assert preferences.save(preferences.Preferences(theme="nord")) is None
    assert preferences.load().theme == "nord"


# -- whose draft it is


def test_a_draft_is_for_the_agent_it_was_typed_for(tmp_path: Path) -> None:
    typed = Drafts(tmp_path)
    typed.keep_all("/a", {"built-in": Left("for the one"), "other": Left("for the other")})
    typed.close()
    found = [claimed(tmp_path, agent) for agent in ("third", "built-in", "other")]
    assert found == ["", "for the one", "for the other"]


def test_a_draft_that_names_no_agent_is_for_any(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('["/a", "typed long ago"]')
    assert claimed(tmp_path, "built-in") == "typed long ago"


async def test_the_draft_of_a_client_that_is_still_ending_is_taken_over_when_it_has_ended(
    opened: Opened, folders: Path
) -> None:
    ending = Drafts()
    ending.keep(str(folders), "typed before the window was closed")
    async with opened(ScriptedAgent()) as chat:
        assert chat.pane.editor.text == ""
        ending.close()
        await chat.until(lambda: chat.pane.editor.text == "typed before the window was closed")


async def test_the_draft_of_a_client_that_is_still_ending_does_not_disturb_what_is_typed_here(
    opened: Opened, folders: Path
) -> None:
    ending = Drafts()
    ending.keep(str(folders), "typed before the window was closed")
    async with opened(ScriptedAgent()) as chat:
        await chat.type("typed here")
        ending.close()
        chat.app._look_after_drafts()
        assert chat.pane.editor.text == "typed here"
    left = Drafts()
    assert left.claim(str(folders)).text == "typed before the window was closed\n\ntyped here"
    left.close()


async def test_another_agents_client_does_not_begin_with_the_draft(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.type("my draft")
        chat.app.keep_drafts()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(Memory, "named", lambda self, target: "another")
        async with opened(ScriptedAgent()) as chat:
            assert chat.pane.editor.text == ""
    async with opened(ScriptedAgent()) as chat:
        assert chat.pane.editor.text == "my draft"

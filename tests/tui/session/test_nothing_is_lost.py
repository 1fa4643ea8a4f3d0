"""No prompt or message is lost when agents exit, tabs close, or two clients run side by side."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from support.tui_driver import Chat, Opened
from textual.events import Paste

from accord.agent.turn import Turn
from accord.store.memory import MemoryStore
from accord.testing import ScriptedAgent
from accord.transcript.message import Message
from accord.tui.agent.process import AgentProcess
from accord.tui.host import Finding
from accord.tui.prompt.drafts import Drafts
from accord.tui.transcript.view import TranscriptView


async def endless(turn: Turn) -> None:
    await turn.say("working on it")
    await asyncio.Event().wait()


async def think(turn: Turn) -> None:
    await turn.think("first line\n\nsecond line of it")
    await turn.say("done")


async def export(chat: Chat) -> None:
    """Export the session to the suggested file."""
    chat.app.action_export()
    await chat.until("Export as")
    await chat.press("enter")
    await chat.until("File to write")
    await chat.press("enter")
    await chat.gone("File to write")
    await chat.until(lambda: chat.is_notified("Exported to"))


async def die(chat: Chat) -> None:
    """End the agent as if its process had died."""
    agent = chat.tab.controller.process.agent
    assert agent is not None
    await agent.connection.transport.close()
    await chat.until(lambda: chat.tab.controller.state == "gone")


async def test_prompts_queued_when_the_agent_dies_can_be_sent_after_a_restart(opened: Opened) -> None:
    agents: list[ScriptedAgent] = []

    def agent() -> ScriptedAgent:
        agents.append(ScriptedAgent([endless]) if not agents else ScriptedAgent())
        return agents[-1]

    async with opened(agent) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second")
        await chat.send("third")
        await die(chat)
        await chat.until("the 2 queued prompts are kept")
        assert [prompt.text for prompt in chat.tab.controller.queue.waiting] == ["second", "third"]
        assert "couldn't be sent" not in chat.text
        await chat.press("ctrl+r")
        await chat.until("2 queued, on hold")
        await chat.press("enter")
        await chat.until("You said: third")
        assert agents[-1].prompts == ["second", "third"]


async def test_a_queued_prompt_can_be_edited_after_the_agent_exited(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second")
        await die(chat)
        await chat.until("1 queued")
        await chat.press("alt+up")
        assert chat.tab.editor.text == "second"
        assert not chat.tab.controller.queue.waiting


async def test_a_prompt_that_cannot_be_sent_returns_to_the_editor(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:

        def refuse(*given: object) -> list[object]:
            raise OSError("there is no such file any more")

        chat.app.host.content = refuse  # type: ignore[method-assign, assignment]
        await chat.send("look at @this")
        await chat.until("there is no such file any more")
        assert chat.tab.editor.text == "look at @this"


async def test_the_transcript_stays_when_a_restarted_agent_has_lost_the_session(opened: Opened, folders: Path) -> None:
    async with opened(ScriptedAgent, size=(120, 50)) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        await die(chat)
        await chat.press("ctrl+r")
        await chat.until("New session: the agent couldn't continue the previous one")
        assert "You said: remember the wombat" in chat.text
        await chat.send("and now")
        await chat.until("You said: and now")
        await export(chat)
        written = (folders / "conversation.md").read_text()
        assert "You said: remember the wombat" in written
        assert "You said: and now" in written


async def test_messages_stay_if_the_agent_cannot_be_restarted(opened: Opened, folders: Path) -> None:
    async with opened(ScriptedAgent, size=(120, 50)) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        await die(chat)
        chat.app.host.fails = "there is no command 'robot'"  # type: ignore[attr-defined]
        await chat.press("ctrl+r")
        await chat.until("there is no command 'robot'")
        assert "You said: remember the wombat" in chat.text
        await export(chat)
        assert "You said: remember the wombat" in (folders / "conversation.md").read_text()
        chat.app.host.fails = ""  # type: ignore[attr-defined]
        await chat.press("ctrl+r")
        await chat.until("New session")
        assert "You said: remember the wombat" in chat.text


async def test_a_fork_shows_the_messages_of_its_original(opened: Opened) -> None:
    class Forking(ScriptedAgent):
        unstable = True
        store = MemoryStore()

    async with opened(Forking(), size=(120, 50)) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        first = chat.tab
        session = first.controller.session
        assert session is not None
        await chat.app.session_list.open(first, session.id, "f6", "“Wombats”")
        await chat.until(lambda: chat.tab is not first)
        await chat.until("Fork of “Wombats”")
        assert "You said: remember the wombat" in chat.text
        assert chat.tab.controller.title == "fork of “Wombats”"
        # Where the original is not open, the agent tells what was said.
        await chat.press("f9")
        await first.controller.process.agent.close_session(session.id)  # type: ignore[union-attr]
        first.controller.context.session = None
        await chat.app.session_list.open(first, session.id, "f6", "“Wombats”")
        await chat.until("Fork of “Wombats”")
        assert "You said: remember the wombat" in chat.text


async def test_text_typed_after_a_click_in_the_transcript_goes_to_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([think])) as chat:
        await chat.send("go")
        await chat.until("done")
        await chat.pilot.click(TranscriptView, offset=(6, 3))
        await chat.until("second line of it")  # it opened
        await chat.type("copy of it")
        assert chat.tab.editor.text == "copy of it"


async def test_unbound_letters_in_the_transcript_are_typed_into_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([think])) as chat:
        await chat.send("go")
        await chat.until("done")
        await chat.press("tab")
        await chat.until(lambda: chat.tab.transcript_view.has_focus)
        await chat.type("workflow")
        assert chat.tab.editor.text == "workflow"
        await chat.press("tab")
        await chat.until(lambda: chat.tab.transcript_view.has_focus)
        chat.tab.transcript_view.post_message(Paste(" of\nmany lines"))
        await chat.until(lambda: chat.tab.editor.text == "workflow of\nmany lines")


async def test_tab_selects_a_visible_item(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.send("the first")
        await chat.until("You said: the first")
        await chat.press("tab", "up", "tab")
        for number in range(12):
            await chat.send(f"number {number}")
            await chat.until(f"You said: number {number}")
        await chat.press("tab")
        await chat.until(lambda: chat.tab.transcript_view.has_focus)
        selected = chat.tab.transcript_view.selected
        assert isinstance(selected, Message)
        assert selected.text == "You said: number 11"


async def test_a_crash_prints_two_lines_and_saves_typed_text(
    opened: Opened, folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        secret = "sk-this-is-nobodys-business"
        raise ZeroDivisionError(f"of {len(secret)}")

    async def break_it() -> None:
        async with opened(ScriptedAgent()) as chat:
            await chat.type("half a prompt")
            chat.app.call_later(fail)
            chat.app.call_later(fail)
            await chat.until(lambda: not chat.app.is_running)

    with pytest.raises(ZeroDivisionError):
        await break_it()
    told = " ".join(capsys.readouterr().err.split())  # however wide the terminal is
    assert "Accord had to stop: ZeroDivisionError: of 27" in told
    assert "nobodys-business" not in told
    assert "Traceback" not in told and "NOTE" not in told
    assert "in fail" in (folders.parent / "data" / "chat" / "errors.log").read_text()
    drafts = Drafts()
    assert drafts.claim(str(folders)).text == "half a prompt"
    drafts.close()


async def test_closing_a_tab_with_unsent_text_or_a_running_turn_needs_confirmation(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2)
        await chat.ready()
        await chat.send("go")
        await chat.until("working on it")
        await chat.type("not sent yet")
        await chat.press("f9")
        await chat.until("Close the tab?")
        assert "The agent is working here" in chat.text
        await chat.press("enter")
        await chat.gone("Close the tab?")
        assert len(chat.app.tabs) == 2
        assert chat.tab.editor.text == "not sent yet"
        await chat.press("f9")
        await chat.until("Close the tab?")
        await chat.press("down", "enter")
        await chat.until(lambda: len(chat.app.tabs) == 1)
        await chat.press("up")
        await chat.until(lambda: chat.tab.editor.text == "not sent yet")


async def test_the_key_that_kills_an_agent_which_does_not_stop_is_shown(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deaf(turn: Turn) -> None:
        await turn.say("I never stop")
        while True:
            with suppress(asyncio.CancelledError):
                await ended.wait()
                return

    ended = asyncio.Event()
    monkeypatch.setattr("accord.tui.session.turns.STUCK_SECONDS", 0.1)
    async with opened(ScriptedAgent([deaf])) as chat:
        await chat.send("go")
        await chat.until("I never stop")
        process = chat.tab.controller.process
        assert process.agent is not None
        connection = process.agent.connection
        monkeypatch.setattr(process, "kill", lambda: asyncio.ensure_future(connection.transport.close()))
        # The agent's side would end the turn for it: its answer never comes here.
        monkeypatch.setattr(type(chat.tab.controller.session), "cancel", _nothing)
        await chat.press("escape")
        await chat.until("not stopping: f12 kills the agent")
        await chat.press("f12")
        await chat.until("You killed it.")
        ended.set()


async def _nothing(session: object) -> None:
    return


async def test_the_log_has_messages_from_before_it_was_opened(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.send("remember the wombat")
        await chat.until("You said: remember the wombat")
        await chat.press("ctrl+l")
        await chat.until("session/prompt")


async def test_the_queue_shows_its_keys_while_it_has_the_focus(opened: Opened) -> None:
    async with opened(ScriptedAgent([endless])) as chat:
        await chat.send("first")
        await chat.until("working on it")
        await chat.send("second")
        await chat.until("1 queued")
        await chat.press("f6")
        await chat.until("enter edit · del remove")
        await chat.press("delete")
        await chat.until(lambda: not chat.tab.controller.queue.waiting)


async def test_an_agent_that_does_not_start_marks_its_tab_and_names_the_doctor(opened: Opened) -> None:
    findings = [Finding(False, "command", "there is no robot here", "install one")]
    async with opened(ScriptedAgent(), findings=findings) as chat:
        chat.app.host.fails = "there is no command 'robot'"  # type: ignore[attr-defined]
        process = AgentProcess(chat.app.host, None, chat.app.questions)
        chat.app.agents.processes.append(process)
        chat.app.agents.start(process)
        (await chat.app.tabs.add(process)).begin()
        await chat.until("2 ✗")
        await chat.until("alt+d diagnose")
        await chat.press("alt+d")
        await chat.until("there is no robot here")


async def test_an_image_dropped_on_the_prompt_is_sent_to_the_agent(opened: Opened, folders: Path) -> None:
    came: list[str] = []

    class Looking(ScriptedAgent):
        content = ("image",)

        async def prompt(self, turn: Turn) -> None:
            came.extend(type(piece).__name__ for piece in turn.content)
            await turn.say("seen")

    (folders / "my shot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    async with opened(Looking()) as chat:
        chat.tab.editor.post_message(Paste(f"'{folders}/my shot.png'"))
        await chat.until(lambda: chat.tab.editor.text == '@"my shot.png" ')
        await chat.press("enter")
        await chat.until("seen")
        assert came[-1].startswith("Image")


async def test_the_header_shows_the_agents_own_title(opened: Opened) -> None:
    class Titled(ScriptedAgent):
        title = "The Grand Robot"

    async with opened(Titled()) as chat:
        chat.tab.controller.process.target = "/usr/bin/robot --acp"
        await chat.until(lambda: "The Grand Robot" in chat.lines[0])

"""Shell commands of the user: `!` runs one, `!!` also gives its output to the agent with the next prompt."""

from __future__ import annotations

import os
import sys

import pytest
from support.tui_driver import Opened
from textual import events

from accord.agent.turn import Turn
from accord.model.tool import ExitStatus
from accord.testing import ScriptedAgent
from accord.tui.session.shell import Finished

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
PYTHON = sys.executable


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


def test_the_fence_around_an_output_is_longer_than_any_in_it() -> None:
    text = Finished("cat a.md", "````\ncode\n````", False, ExitStatus(code=0)).describe()
    assert text == "I ran `cat a.md` (exit status 0); its output:\n`````\n````\ncode\n````\n`````"


async def test_a_command_runs_in_the_project_and_never_reaches_the_agent(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        (chat.app.host.cwd / "seen.txt").write_text("here")
        await chat.type("!")
        await chat.until("Shell: runs here")
        await chat.send("!cat seen.*; echo done")
        await chat.until("! cat seen.*; echo done")
        await chat.until(lambda: chat.tab.controller.shell.last is not None)
        last = chat.tab.controller.shell.last
        assert last is not None
        assert (last.output, last.exit.code) == ("heredone\n", 0)
        await chat.send("hello")
        await chat.until("heard: hello")


async def test_the_output_is_shown_while_the_command_runs_and_escape_ends_it(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        shell = chat.tab.controller.shell
        await chat.send("!echo first; exec sleep 1000")
        await chat.until(lambda: bool(shell.running))
        (terminal,) = shell.running
        await chat.until(lambda: "first" in (chat.tab.controller.terminal(terminal) or ("",))[0])
        await chat.press("escape")
        await chat.until(lambda: not shell.running)
        assert shell.last is not None
        assert shell.last.exit.signal == "SIGTERM"


async def test_the_output_is_given_with_the_next_prompt_where_the_user_sees_it(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("!!echo one && false")
        await chat.until(lambda: "output of echo one" in chat.tab.editor.text)
        await chat.type("why?")
        await chat.press("enter")
        await chat.until("heard: I ran echo one && false (exit status 1); its output:")


async def test_two_exclamation_marks_alone_give_the_last_output(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("!!")
        await chat.until(lambda: chat.is_notified("No command has ended yet."))
        await chat.send("!echo two")
        await chat.until(lambda: chat.tab.controller.shell.last is not None)
        await chat.send("!!")
        await chat.until(lambda: "output of echo two" in chat.tab.editor.text)


async def test_pasted_text_that_is_folded_is_never_a_command(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        chat.app.post_message(events.Paste("!touch hacked\n" * 20))
        await chat.pilot.pause()
        await chat.press("enter")
        await chat.until("heard: !touch hacked")
        assert not (chat.app.host.cwd / "hacked").exists()


async def test_a_prompt_from_the_command_line_is_never_a_command(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), first_prompt="!touch hacked") as chat:
        await chat.until("heard: !touch hacked")
        assert not (chat.app.host.cwd / "hacked").exists()


async def test_a_backslash_sends_an_exclamation_mark_as_text(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("\\!important")
        await chat.until("heard: !important")


async def test_closing_the_tab_ends_its_commands(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.press("ctrl+t")
        await chat.until(lambda: len(chat.app.tabs) == 2 and chat.tab.controller.session is not None)
        controller = chat.tab.controller
        await chat.send("!exec sleep 1000")
        await chat.until(lambda: bool(controller.shell.running))
        (id,) = controller.shell.running
        await chat.press("f9")
        await chat.until(lambda: len(chat.app.tabs) == 1)
        assert not controller.process.workspace.is_running(id)

"""Rewinding files: the transcript lists which files were restored, and how to revert that."""

from __future__ import annotations

from pathlib import Path

from support.tui_driver import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.tui.session.checkpoints import describe_restore
from accord.workspace.checkpoints import Restored


class Writing(Agent):
    """An agent that writes the files named in the prompt."""

    async def prompt(self, turn: Turn) -> None:
        for name in turn.text.split():
            await turn.files.write(name, "by the agent")
        await turn.say("Written.")


def describe(**paths: list[str]) -> list[str]:
    report = Restored(**{kind: [f"/app/{name}" for name in names] for kind, names in paths.items()})
    return describe_restore(report, "/app", undo="Undo the rewind").splitlines()


def test_restored_removed_and_skipped_files_are_listed() -> None:
    undo = "“Undo the rewind” in ctrl+p reverts this."
    assert describe(restored=["a", "b"], removed=["b"]) == [
        "Restored: a",
        "Removed (didn't exist then): b",
        undo,
    ]
    assert describe(restored=list("abcdefg"), removed=["f", "g"]) == [
        "Restored: a, b, c, d, e",
        "Removed (didn't exist then): f, g",
        undo,
    ]
    assert describe(restored=list("abcdefg"))[0] == "Restored: a, b, c, d, e and 2 more"
    assert describe(conflicts=["a"], lost=["b"]) == [
        "Skipped (changed by something else): a",
        "Skipped (old version not saved): b",
    ]
    assert describe(same=["a"]) == ["No file had changed."]


async def test_a_rewind_lists_the_files_and_the_command_that_reverts_it(opened: Opened, folders: Path) -> None:
    (folders / "old.txt").write_text("before")
    async with opened(Writing()) as chat:
        asked = chat.tab.controller.permissions
        await chat.send("old.txt new.txt")
        for name in ("old.txt", "new.txt"):
            await chat.until(lambda name=name: asked and asked[0].question.action.paths[0].endswith(name))  # type: ignore[misc]
            asked[0].answer.set_result(asked[0].question.choice("allow_once"))
        await chat.until("Written.")
        await chat.press("alt+r")
        await chat.until("Rewind files to")
        await chat.press("enter")
        await chat.until("Restored: old.txt")
        await chat.until("Removed (didn't exist then): new.txt")
        await chat.until("“Undo the rewind” in ctrl+p reverts this.")
        assert (folders / "old.txt").read_text() == "before"
        await chat.tab.commands.undo_rewind()
        await chat.until("Restored: old.txt, new.txt")

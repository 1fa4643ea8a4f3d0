"""Files that are brought back: which of them it were is told, and how to take it back."""

from __future__ import annotations

from pathlib import Path

from chatting import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.tui.rewinding import what_was_restored
from accord.workspace.checkpoints import Restored


class Writing(Agent):
    """Writes to the files that it is told."""

    async def prompt(self, turn: Turn) -> None:
        for name in turn.text.split():
            await turn.files.write(name, "by the agent")
        await turn.say("Written.")


def told(**paths: list[str]) -> list[str]:
    report = Restored(**{kind: [f"/app/{name}" for name in names] for kind, names in paths.items()})
    return what_was_restored(report, "/app", can_undo=True).splitlines()


def test_files_are_named_by_what_became_of_them() -> None:
    undo = "“Undo the rewind” in ctrl+p takes this back."
    assert told(restored=["a", "b"], removed=["b"]) == [
        "a: as it was",
        "b: removed, since it was not there then",
        undo,
    ]
    assert told(restored=list("abcdefg"), removed=["f", "g"]) == [
        "a, b, c, d, e: as they were",
        "f, g: removed, since they were not there then",
        undo,
    ]
    assert told(restored=list("abcdefg"))[0] == "a, b, c, d, e and 2 more: as they were"
    assert told(conflicts=["a"], lost=["b"]) == [
        "a: left alone, since somebody else changed it",
        "b: left alone, since what it was is not kept",
    ]
    assert told(same=["a"]) == ["Every file was like that already."]


async def test_a_rewind_names_the_files_and_how_it_is_undone(opened: Opened, folders: Path) -> None:
    (folders / "old.txt").write_text("before")
    async with opened(Writing()) as chat:
        asked = chat.pane.talk.asked
        await chat.send("old.txt new.txt")
        for name in ("old.txt", "new.txt"):
            await chat.until(lambda name=name: asked and asked[0].question.action.paths[0].endswith(name))  # type: ignore[misc]
            asked[0].answer.set_result(asked[0].question.choice("allow_once"))
        await chat.until("Written.")
        await chat.press("alt+r")
        await chat.until("Rewind files to")
        await chat.press("enter")
        await chat.until("old.txt: as it was")
        await chat.until("new.txt: removed, since it was not there then")
        await chat.until("“Undo the rewind” in ctrl+p takes this back.")
        assert (folders / "old.txt").read_text() == "before"
        await chat.pane.undo_rewind()
        await chat.until("old.txt, new.txt: as they were")

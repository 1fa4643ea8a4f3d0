"""Following the agent to the file and line it works on, and files in the user's editor."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from support.tui_driver import TIMEOUT_SECONDS, Opened

from accord.agent.turn import Turn
from accord.model.tool import FileChange, Location, ToolCall
from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.session.activity import WorkLocation, locations_of
from accord.tui.tab.file_preview import AROUND, MAX_BYTES, first_change, preview_file
from accord.tui.terminal.editor import open_in_editor
from accord.tui.theme import TextStyles

# -- a look into a file


def test_the_lines_around_the_marked_line_are_highlighted(tmp_path: Path, text_styles: TextStyles) -> None:
    file = tmp_path / "count.py"
    file.write_text("".join(f"number = {line}\n" for line in range(1, 1001)))
    seen = preview_file(str(file), 500, text_styles)
    assert seen.line == 500
    assert seen.lines[500 - seen.first].plain == "number = 500"
    assert seen.lines[500 - seen.first].spans
    assert len(seen.lines) == 2 * AROUND + 1


def test_a_file_that_cannot_be_shown_has_a_message_instead(tmp_path: Path, text_styles: TextStyles) -> None:
    def words(path: Path) -> str:
        return preview_file(str(path), 1, text_styles).words

    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0\0")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    assert words(tmp_path / "binary") == "This is a binary file (7 B)."
    assert words(tmp_path / "large") == "The file is too large to show here: 4.0 MB."
    assert words(tmp_path / "missing") == words(tmp_path / "empty" / "below") == "The file doesn't exist."
    assert words(tmp_path) == "This is a directory."
    assert words(tmp_path / "empty") == "The file is empty."
    assert words(tmp_path / "pipe") == "This isn't a regular file."


def test_a_line_past_the_end_is_reported_and_the_end_is_shown(tmp_path: Path, text_styles: TextStyles) -> None:
    (tmp_path / "short.txt").write_text("one\ntwo\n")
    seen = preview_file(str(tmp_path / "short.txt"), 9, text_styles)
    assert (seen.words, seen.line) == ("Line 9 is past the end of the file.", None)
    assert [line.plain for line in seen.lines] == ["one", "two"]


def test_unsaved_text_is_shown_instead_of_the_file_on_disk(tmp_path: Path, text_styles: TextStyles) -> None:
    (tmp_path / "a.txt").write_text("saved\n")
    assert [line.plain for line in preview_file(str(tmp_path / "a.txt"), 1, text_styles, "unsaved\n").lines] == [
        "unsaved"
    ]


def test_escape_sequences_in_a_file_are_shown_and_not_obeyed(tmp_path: Path, text_styles: TextStyles) -> None:
    (tmp_path / "a.txt").write_text("\x1b]0;mine\x07 and \x1b[2J\n")
    assert "\x1b" not in preview_file(str(tmp_path / "a.txt"), 1, text_styles).lines[0].plain


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path, text_styles: TextStyles) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\n")
    os.utime(file, (1, 1))
    first = preview_file(str(file), 1, text_styles)
    assert preview_file(str(file), 1, text_styles, before=first) is first
    file.write_text("two\n")
    assert [line.plain for line in preview_file(str(file), 1, text_styles, before=first).lines] == ["two"]


def test_the_first_changed_line_is_found() -> None:
    assert first_change(FileChange(operation="modify", path="a", old_text="1\n2\n3\n", new_text="1\n2\n4\n")) == 3
    assert first_change(FileChange(operation="add", path="a", new_text="1\n")) == 1
    assert first_change(FileChange(operation="modify", path="a", old_text="1\n", new_text="1\n2\n")) == 2
    assert first_change(FileChange(operation="delete", path="a", old_text="1\n")) is None


def test_locations_of_a_call_are_listed_once_with_the_latest_last() -> None:
    told = [Location(path="a", line=1), Location(path="b"), Location(path="a", line=1)]
    call = ToolCall(id="c", title="C", locations=told)
    assert locations_of(call) == [WorkLocation("b", None, "C", "c"), WorkLocation("a", 1, "C", "c")]


# -- the panel


@pytest.mark.req("V1-TOOL-18", "V2-TOOL-14")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("size", [(160, 40), (80, 24)])
async def test_the_panel_follows_the_agent_from_location_to_location(
    opened: Opened, folders: Path, version: int, size: tuple[int, int]
) -> None:
    (folders / "one.py").write_text("".join(f"first = {line}\n" for line in range(1, 100)))
    (folders / "two.py").write_text("".join(f"second = {line}\n" for line in range(1, 100)))
    go_on = asyncio.Event()

    async def work(turn: Turn) -> None:
        async with turn.tool("Look around", kind="read", locations=["one.py:40"]) as tool:
            await go_on.wait()
            await tool.update(locations=["one.py:40", "two.py:70"])
        await turn.say("done")

    async with opened(ScriptedAgent([work]), size=size, versions=[version]) as chat:
        await chat.press("alt+w")
        await chat.until("Following: the agent hasn't reported a file location yet.")
        await chat.send("go")
        await chat.until("▶40 first = 40")
        assert "one.py:40" in chat.text
        go_on.set()
        await chat.until("▶70 second = 70")
        await chat.press("alt+w")
        await chat.gone("second = 70")
        assert preferences.load().follow is False


async def test_the_follow_setting_is_saved_and_applies_to_new_tabs(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("alt+w")
        await chat.until("hasn't reported a file location yet")
        assert preferences.load().follow is True
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.until("hasn't reported a file location yet")


async def test_a_file_written_through_the_client_is_shown_when_its_call_updates(opened: Opened, folders: Path) -> None:
    (folders / "notes.txt").write_text("before\n")

    async def work(turn: Turn) -> None:
        async with turn.tool("Write", kind="edit", locations=["notes.txt:1"]) as tool:
            (folders / "notes.txt").write_text("after\n")
            await tool.show("written")
        await turn.say("done")

    async with opened(ScriptedAgent([work]), size=(80, 30)) as chat:
        await chat.press("alt+w")
        await chat.send("go")
        await chat.until("▶1 after")


async def test_the_follow_panel_shows_an_unsaved_buffer(opened: Opened, folders: Path) -> None:
    path = folders / "notes.txt"
    path.write_text("on the disk\n")

    async def work(turn: Turn) -> None:
        async with turn.tool("Read", kind="read", locations=["notes.txt:1"]):
            pass

    async with opened(ScriptedAgent([work]), size=(80, 30)) as chat:
        workspace = chat.tab.controller.process.workspace
        workspace.local.files.overlay.show(str(path), "on the screen\n")  # type: ignore[union-attr]
        await chat.press("alt+w")
        await chat.send("go")
        await chat.until("▶1 on the screen")


@pytest.mark.parametrize("version", [1, 2])
async def test_a_change_without_a_location_is_followed_to_its_first_line(
    opened: Opened, folders: Path, version: int
) -> None:
    new = "".join(f"line {number}\n" for number in range(1, 61))
    (folders / "long.txt").write_text(new)

    async def work(turn: Turn) -> None:
        async with turn.tool("Change", kind="edit") as tool:
            await tool.diff("long.txt", new.replace("line 44\n", "old\n"), new)

    async with opened(ScriptedAgent([work]), size=(150, 40), versions=[version]) as chat:
        await chat.press("alt+w")
        await chat.send("go")
        await chat.until("▶44 line 44")


async def test_the_follow_panel_is_hidden_during_a_permission_request_and_in_low_windows(
    opened: Opened, folders: Path
) -> None:
    (folders / "a.txt").write_text("alpha\n")

    async def work(turn: Turn) -> None:
        async with turn.tool("Change a.txt", kind="edit", locations=["a.txt:1"]) as tool:
            await tool.diff("a.txt", "alpha\n", "beta\n")
            await tool.permit()
        await turn.say("done")

    async with opened(ScriptedAgent([work]), size=(80, 24)) as chat:
        await chat.press("alt+w")
        await chat.until("hasn't reported a file location yet")
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.gone("▶1 alpha")
        await chat.until("number or")
        await chat.press("n")
        await chat.until("▶1 alpha")
        await chat.pilot.resize_terminal(80, 14)
        await chat.gone("▶1 alpha")
        await chat.pilot.resize_terminal(150, 20)
        await chat.until("▶1 alpha")


async def test_a_double_click_on_the_follow_panel_opens_the_file_in_the_editor(
    opened: Opened, editor: Path, folders: Path
) -> None:
    (folders / "a.txt").write_text("alpha\n")
    (editor / "done").touch()

    async def work(turn: Turn) -> None:
        async with turn.tool("Read a.txt", kind="read", locations=["a.txt:1"]):
            pass
        await turn.say("done")

    async with opened(ScriptedAgent([work]), size=(150, 30)) as chat:
        await chat.press("alt+w")
        await chat.send("go")
        await chat.until("▶1 alpha")
        await chat.pilot.click("FollowPanel", offset=(5, 3))
        assert not (editor / "noted").exists()
        await chat.pilot.click("FollowPanel", offset=(5, 3), times=2)
        await chat.until(lambda: (editor / "noted").exists())


# -- the editor


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that records its arguments, and exits once there is a file `done` beside the record."""
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "text = pathlib.Path(sys.argv[-1]).read_text() if pathlib.Path(sys.argv[-1]).exists() else ''\n"
        "(here / 'noted').write_text('\\n'.join(sys.argv[1:]) + '\\n---\\n' + text)\n"
        "while not (here / 'done').exists():\n"
        "    time.sleep(0.01)\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)
    return tmp_path


async def test_messages_are_received_while_the_editor_is_open(opened: Opened, editor: Path) -> None:
    go_on = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await turn.say("first words. ")
        await go_on.wait()
        await turn.say("said meanwhile")

    async with opened(ScriptedAgent([slow])) as chat:
        await chat.send("go")
        await chat.until("first words.")
        chat.tab.editor.set_text("half a prompt")
        await chat.press("f4")
        await chat.until(lambda: (editor / "noted").exists())
        go_on.set()
        transcript = chat.tab.controller.transcript
        assert transcript is not None
        await chat.until(lambda: transcript.text.endswith("said meanwhile"))
        assert not (editor / "done").exists()
        (editor / "done").touch()
        await chat.until("said meanwhile")
        assert chat.tab.editor.text == "half a prompt"


async def test_the_user_chooses_which_of_several_locations_to_open(opened: Opened, editor: Path, folders: Path) -> None:
    (folders / "a.txt").write_text("alpha\n")
    (folders / "b.txt").write_text("beta\n")
    (editor / "done").touch()

    async def work(turn: Turn) -> None:
        async with turn.tool("Two files", kind="read", locations=["a.txt:1", "b.txt"]):
            pass
        await turn.say("done")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("done")
        await chat.press("tab", "up", "e")
        await chat.until("Open in the editor")
        assert "b.txt" in chat.text and "a.txt:1" in chat.text
        await chat.press("down", "enter")
        await chat.until(lambda: (editor / "noted").exists())
        await chat.until(lambda: "alpha" in (editor / "noted").read_text())


async def test_a_single_location_opens_at_once_and_truncated_text_is_offered_too(
    opened: Opened, editor: Path, folders: Path
) -> None:
    (folders / "a.txt").write_text("alpha\n")
    (editor / "done").touch()

    async def work(turn: Turn) -> None:
        async with turn.tool("One file", kind="read", locations=["a.txt"]) as tool:
            await tool.show("\n\n".join(f"found {number}" for number in range(2000)))
        await turn.say("done")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("done")
        await chat.press("tab", "up", "e")
        await chat.until(lambda: (editor / "noted").exists())
        await chat.until(lambda: "alpha" in (editor / "noted").read_text())
        await chat.press("enter", "e")
        await chat.until("The whole text of the tool call")
        await chat.press("down", "enter")
        await chat.until(lambda: "found 1999" in (editor / "noted").read_text())


async def test_a_missing_editor_is_reported(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor-anywhere")
    async with opened(ScriptedAgent()) as chat:
        told: list[str] = []
        chat.app.notify = lambda words, **how: told.append(words)  # type: ignore[method-assign, assignment]
        chat.tab.editor.set_text("kept")
        await chat.press("f4")
        await chat.until(lambda: told)
        assert "no-such-editor-anywhere couldn't be started" in told[0]
        assert chat.tab.editor.text == "kept"


async def until_open(editor: Path) -> None:
    """Wait until the editor has opened the file."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not (editor / "noted").exists():  # noqa: ASYNC110  # another process writes it
            await asyncio.sleep(0.01)


async def test_nothing_is_written_to_the_terminal_while_the_editor_has_it(editor: Path) -> None:
    written: list[str] = []

    class Driver:
        can_suspend = True

        def write(self, data: str) -> None:
            written.append(data)

    class Lending:
        _driver = Driver()

        def batch_update(self) -> AbstractContextManager[None]:
            return nullcontext()

        def suspend(self) -> AbstractContextManager[None]:
            return nullcontext()

    app = Lending()
    opening = asyncio.ensure_future(open_in_editor(app, str(editor / "file.txt")))  # type: ignore[arg-type]
    await until_open(editor)
    app._driver.write("\a")
    (editor / "done").touch()
    assert await opening is None
    app._driver.write("drawn again")
    assert written == ["drawn again"]


async def test_the_editor_is_ended_when_the_client_exits(editor: Path) -> None:
    class Closing:
        _driver = None

        def batch_update(self) -> AbstractContextManager[None]:
            return nullcontext()

    opening = asyncio.ensure_future(open_in_editor(Closing(), str(editor / "file.txt")))  # type: ignore[arg-type]
    await until_open(editor)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

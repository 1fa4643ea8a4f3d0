"""Lists to choose from: searching them, and confirmations."""

from __future__ import annotations

import pytest
from support.tui_driver import Chat, Opened

from accord.testing import ScriptedAgent
from accord.tui.screens.picker import Picker, Row

ROWS = [Row("1", "Copilot", "", "Theirs"), Row("2", "Pi", "", "Theirs"), Row("3", "Pines", "", "Theirs")]


def find_frame(chat: Chat) -> tuple[int, int]:
    """Return the rows of the upper and the lower border."""
    region = chat.app.screen.query_one("Picker > Vertical").region
    return region.y, region.bottom


async def test_searching_does_not_move_the_box(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.push_screen(Picker("Agents", ROWS))
        await chat.until("Pines")
        frame = find_frame(chat)
        for letter in "pin":
            await chat.type(letter)
        await chat.gone("Copilot")
        assert find_frame(chat) == frame


async def test_the_box_has_its_width_from_the_first_frame(opened: Opened) -> None:
    widths: list[int] = []

    class Watched(Picker):
        def on_mount(self) -> None:
            self.screen_layout_refresh_signal.subscribe(
                self, lambda screen: widths.append(screen.query_one("Picker > Vertical").outer_size.width)
            )

    async with opened(ScriptedAgent()) as chat:
        chat.app.push_screen(Watched("Agents", ROWS))
        await chat.until("Pines")
        await chat.type("pin")
        await chat.gone("Copilot")
        assert widths and len(set(widths)) == 1


async def test_labels_that_begin_with_the_search_text_come_first_in_their_group(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.app.push_screen(picker := Picker("Agents", [Row("0", "Pilot", "", "Ours"), *ROWS]))
        await chat.until("Pines")
        await chat.type("pi")
        await chat.until(lambda: [row.label for row in picker._shown if row] == ["Pilot", "Pi", "Pines", "Copilot"])


@pytest.mark.parametrize(("key", "answer"), [("y", "yes"), ("n", "no"), ("enter", "no"), ("escape", None)])
async def test_a_letter_answers_a_confirmation(opened: Opened, key: str, answer: str | None) -> None:
    async with opened(ScriptedAgent()) as chat:
        answers: list[str | None] = []
        screen = Picker("Go on?", [Row("no", "No"), Row("yes", "Yes, go on")])
        chat.app.push_screen(screen, lambda picked: answers.append(picked.id if picked is not None else None))
        await chat.until("Yes, go on")
        await chat.press("x")  # isn't an answer, and isn't searched for either
        await chat.until("Yes, go on")
        await chat.press(key)
        await chat.until(lambda: answers == [answer])


async def test_a_confirmation_has_one_frame(opened: Opened) -> None:
    """The list of a picker without a search field had the focus, and with it a border inside the box."""
    async with opened(ScriptedAgent()) as chat:
        chat.app.push_screen(Picker("Save it?", [Row("file", "In a file"), Row("no", "Not at all")], placeholder=""))
        await chat.until("In a file")
        assert chat.app.screen.query_one("Picker OptionList").size.height == 2
        assert not any(each in chat.text for each in "▊▎▔▁")


async def test_truncated_rows_follow_the_width_of_the_window(opened: Opened) -> None:
    about = "Search, load, resume, fork, rename, delete and export sessions"
    async with opened(ScriptedAgent(), size=(120, 24)) as chat:
        chat.app.push_screen(Picker("Commands", [Row("a", "Sessions", about), Row("b", "Theme")]))
        await chat.until(about)
        await chat.pilot.resize_terminal(80, 24)
        await chat.until(lambda: any("❯ Sessions" in line and "…" in line for line in chat.lines))
        await chat.until(lambda: any(about in line and "Sessions" not in line for line in chat.lines))

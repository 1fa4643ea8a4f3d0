"""The lines at the top and bottom, the marks of modes, and panels in windows that change their size."""

from __future__ import annotations

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.model.session import Mode, PlanEntry
from accord.testing import ScriptedAgent
from accord.tui.theme import DARK, LIGHT


class Modal(ScriptedAgent):
    modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code"))


async def plans(turn: Turn) -> None:
    await turn.plan([PlanEntry(content="Dig"), PlanEntry(content="Plant")])
    await turn.say("planned")


async def asks(turn: Turn) -> None:
    await turn.permit("Dig a hole", kind="execute", command="dig")


async def test_the_top_line_names_agent_and_directory_and_shrinks(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(100, 24)) as chat:
        git = chat.app.host.cwd / ".git"
        git.mkdir()
        (git / "HEAD").write_text("ref: refs/heads/spring\n")
        chat.app.headline.read_branch(chat.app.host.cwd)
        await chat.until("(spring)")
        assert chat.lines[0].startswith(" ◆ Accord · ")
        await chat.pilot.resize_terminal(24, 24)
        await chat.until(lambda: "(spring)" not in chat.text)
        assert chat.lines[0].startswith(" ◆")
        await chat.pilot.resize_terminal(80, 15)
        await chat.until(lambda: "◆ Accord ·" not in chat.text)


async def test_screen_readers_get_no_decoration(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(100, 24)) as chat:
        chat.app.preferences.screen_reader = True
        chat.app.apply_preferences()
        await chat.until(lambda: "◆" not in chat.text)
        assert not chat.app.headline.display and not chat.tab.key_line.display


async def test_a_mode_that_acts_without_asking_marks_the_prompt(opened: Opened) -> None:
    async with opened(Modal(), size=(100, 24)) as chat:
        assert not chat.tab.editor.has_class("-acts")
        await chat.press("shift+tab")
        await chat.until("─ Code ─")
        assert chat.tab.editor.has_class("-acts")
        await chat.press("shift+tab")
        await chat.until(lambda: not chat.tab.editor.has_class("-acts"))


async def test_the_keys_at_the_bottom_follow_the_focus(opened: Opened) -> None:
    async with opened(ScriptedAgent(["hello"]), size=(100, 24)) as chat:
        await chat.until("/ commands · @ files")
        await chat.send("go")
        await chat.until("hello")
        await chat.press("tab")
        await chat.until("↑↓ select · enter open")


async def test_the_keys_at_the_bottom_follow_a_focus_that_no_key_moved(opened: Opened) -> None:
    async with opened(ScriptedAgent(["hello"]), size=(100, 24)) as chat:
        await chat.send("go")
        await chat.until("hello")
        await chat.until("/ commands · @ files")
        chat.tab.transcript_view.focus()
        await chat.until("↑↓ select · enter open")


async def test_a_permission_request_names_the_key_that_lists_the_keys(opened: Opened) -> None:
    """A question mark is no answer, so it does nothing there."""
    async with opened(ScriptedAgent([asks]), size=(100, 24)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until(lambda: chat.lines[-1].strip() == "f1 keys")
        await chat.press("f1")
        await chat.until("Most used")


async def test_a_plan_stays_visible_in_every_width(opened: Opened) -> None:
    async with opened(ScriptedAgent([plans]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("plan 0/2")
        for width in (120, 90, 100, 99, 140):
            await chat.pilot.resize_terminal(width, 24)
            await chat.until("Plan 0/2" if width >= 100 else "plan 0/2")


async def test_a_theme_is_previewed_and_dismissed(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(100, 24)) as chat:
        chat.app.action_change_theme()
        await chat.until("type to search")
        await chat.type(LIGHT.name)
        await chat.until(lambda: chat.app.theme == LIGHT.name)
        await chat.until(lambda: chat.tab.status.text_styles is chat.app.text_styles)
        assert not chat.app.text_styles.dark
        await chat.press("escape")
        await chat.until(lambda: chat.app.theme == DARK.name and chat.app.text_styles.dark)


async def test_a_theme_repaints_every_widget(opened: Opened) -> None:
    def colors() -> set[str]:
        """The colors on the screen that the dark theme alone has."""
        strips = chat.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
        names = {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        return names & {DARK.background, DARK.foreground, DARK.primary, DARK.success, DARK.warning}

    async def repaint() -> None:
        assert colors()
        chat.app.settings.set_theme(LIGHT.name)
        await chat.until(lambda: not colors())
        chat.app.settings.set_theme(DARK.name)
        await chat.until(colors)

    async with opened(ScriptedAgent([plans]), size=(120, 40)) as chat:
        await chat.until("Enter or a number")
        await repaint()
        await chat.send("go")
        await chat.until("Plan 0/2")
        await repaint()

"""The prompt of a tab: sending it, editing it in another program, images, and earlier prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from accord.tui.errors import run_in_background
from accord.tui.prompt.paste import warn_about_images
from accord.tui.session.prompt_queue import Prompt
from accord.tui.slash_commands import find_command, find_name, suggest
from accord.tui.terminal.editor import edit_text

if TYPE_CHECKING:
    from accord.model.session import Command
    from accord.tui.tab.tab import Tab


class PromptInput:
    """Passes the text of a tab's editor to its session, and other text to the editor."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._doubted = ""  # a prompt with an unknown slash command, which returned to the editor

    def enter(self, text: str, *, is_urgent: bool, is_shell: bool) -> None:
        """Run a shell command that the user typed after `!`, or submit the text."""
        if is_shell:
            self._tab.shell.enter(text)
        else:
            self.submit(text[1:] if text.startswith("\\!") else text, is_urgent=is_urgent)

    def submit(self, text: str, *, is_urgent: bool) -> None:
        """Run our own slash command, or send or queue a prompt; an urgent one joins the running turn. Without a
        session, or with an unknown slash command, it returns to the editor."""
        tab, app, controller = self._tab, self._tab.app, self._tab.controller
        doubted, self._doubted = self._doubted, ""
        session = controller.session
        theirs = session.commands if session is not None else ()
        own = find_command(text, theirs)
        if own is not None and own.problem:
            tab.editor.give_back(text)
            app.notify(own.problem, severity="warning")
        elif own is not None:
            run_in_background(app, app.run_action(own.action))
        elif controller.state == "gone":
            problem = (
                "There is no session here: ctrl+r starts one"
                if controller.process.is_open
                else "The agent has exited: ctrl+r restarts it"
            )
            tab.editor.give_back(text)
            outcome = "is saved" if app.saved.try_save_drafts() else "stays in the prompt, but can't be saved"
            app.notify(f"{problem}. Your text {outcome}.", severity="warning")
        elif controller.parent is not None:
            app.notify("This is a subagent's session: it takes no prompts from you.", severity="warning")
            tab.editor.give_back(text)
        elif text != doubted and session is not None and self._is_unknown(text, theirs):
            # Before there is a session, the agent's commands aren't known either.
            self._doubted = text
            tab.editor.give_back(text)
            app.notify(describe_unknown(find_name(text) or "", suggest(find_name(text) or "", theirs)))
        else:
            tab.transcript_view.to_end()
            send = controller.turns.steer if is_urgent else controller.turns.send
            send(Prompt(text))

    def recheck(self) -> None:
        """Send a prompt whose slash command the agent announced only after the user had sent it."""
        session, editor = self._tab.controller.session, self._tab.editor
        if self._doubted and session is not None and not self._is_unknown(self._doubted, session.commands):
            self._doubted, text = "", self._doubted
            if editor.text == text:
                editor.submit()

    @staticmethod
    def _is_unknown(text: str, theirs: Sequence[Command]) -> bool:
        name = find_name(text)
        return name is not None and all(each.name != name for each in theirs)

    @property
    def unsent(self) -> list[str]:
        """The text that was typed here and not sent."""
        texts = [*self._tab.controller.queue.unsent, self._tab.editor.full_text]
        return [text.strip() for text in texts if text.strip()]

    def edit(self) -> None:
        """Edit the prompt in the user's own editor."""
        run_in_background(self._tab, self._edit())

    async def _edit(self) -> None:
        editor = self._tab.editor
        before = editor.full_text
        text, problem = await edit_text(self._tab.app, before)
        if problem:
            self._tab.app.notify(problem, severity="error")
        now = editor.full_text  # a prompt that couldn't be sent may have come back meanwhile
        editor.set_text("\n\n".join(filter(None, [text.rstrip("\n"), now if now != before else ""])))

    async def choose_earlier(self) -> None:
        """Let the user choose an earlier prompt to edit and send again."""
        from accord.tui.screens.history import HistoryScreen

        app, history = self._tab.app, self._tab.app.saved.history
        history.reload()
        picked = await app.dialogs.show(HistoryScreen(history, str(app.host.cwd)))
        if picked is not None:
            self._tab.editor.recall(history.everything[int(picked.id)].text)
            self._tab.editor.focus()

    # -- images

    def paste_image(self) -> None:
        """Mention the image in the system clipboard; without one, insert the text that was copied here."""
        run_in_background(self._tab, self._paste_image(), exclusive=True, group="clipboard")

    async def _paste_image(self) -> None:
        from accord.tui.prompt.clipboard import MAX_BYTES, TooLarge, save_image

        app = self._tab.app
        try:
            path = await asyncio.to_thread(save_image)
        except TooLarge:
            limit = MAX_BYTES // 1024 // 1024
            app.notify(f"The image in the clipboard is larger than {limit} MB.", severity="warning")
            return
        except OSError as error:
            app.notify(f"Couldn't save the image: {error}", severity="error")
            return
        if path is not None:
            self._tab.area.mention(path)
        elif app.clipboard:
            self._tab.editor.insert(app.clipboard)
        else:
            app.notify("There is no image in the clipboard. Paste text with the terminal's own key.")

    def check_mentions(self, paths: list[Path]) -> None:
        """Warn if the agent can't use the images among the mentioned files."""
        agent = self._tab.controller.process.agent
        doubt = warn_about_images(paths, agent is None or agent.offers.image)
        if doubt:
            self._tab.app.notify(doubt, severity="warning")


def describe_unknown(name: str, similar: Sequence[str]) -> str:
    """Say that there is no such slash command, and which one was probably meant."""
    hint = f" Did you mean {' or '.join(f'/{each}' for each in similar[:2])}?" if similar else ""
    return f"There is no command /{name}.{hint} Press Enter again to send it as text."

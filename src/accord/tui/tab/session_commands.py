"""Commands about the session of a tab: its options and mode, and rewinding files."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from accord.model.session import arrange_options
from accord.terminal_text import one_line
from accord.tui.commands import UNDO_REWIND
from accord.tui.session.checkpoints import NO_REWIND, describe_restore, list_files

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.model.session import Option
    from accord.tui.tab.tab import Tab
    from accord.workspace.checkpoints import Restored


class SessionCommands:
    """Changes options and rewinds files for one tab."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    async def choose_option(self) -> None:
        """Let the user choose an option and its value."""
        from accord.tui.screens.picker import Picker, Row

        app, session = self._tab.app, self._tab.controller.session
        if session is None or not session.options:
            app.notify("This agent has no options.", severity="warning")
            return
        options = arrange_options(session.options)
        rows = [Row(each.id, f"{each.name}: {each.value_name}", each.description or "") for each in options]
        picked = await app.dialogs.show(Picker("Mode, model and options", rows))
        option = session.option(picked.id) if picked is not None else None
        if option is not None:
            await self._choose_value(session, option)

    async def choose(self, id: str) -> None:
        """Let the user choose the value of one option: the model or the mode."""
        session = self._tab.controller.session
        option = session.option(id) if session is not None else None
        if session is None or option is None:
            self._tab.app.notify(f"This agent has no {id} setting.", severity="warning")
        else:
            await self._choose_value(session, option)

    async def _choose_value(self, session: Session, option: Option, text: str = "") -> None:
        from accord.tui.screens.option_values import choose_typed, list_values
        from accord.tui.screens.picker import Picker

        app = self._tab.app
        if not option.is_known:
            app.notify(f"This client can't set “{one_line(option.name)}”.", severity="warning")
            return
        if option.is_boolean:
            await self._set(session, option, not option.value)
            return
        is_model = option.category == "model"
        title = one_line(option.name)
        typed = (lambda text: choose_typed(option, text)) if is_model else None
        placeholder = "type to search, or the name of any model" if is_model else "type to search"
        rows, now = list_values(option), str(option.value)
        screen = Picker(title, rows, placeholder=placeholder, typed=typed, chosen=now, text=text)
        chosen = await app.dialogs.show(screen)
        if chosen is not None:
            await self._set(session, option, chosen.id)

    async def set_option(self, id: str, value: str) -> None:
        """Set an option to a value that the user typed: one of its values or their names, or any model. If several
        providers may have the model, the user chooses."""
        from accord.tui.screens.option_values import choose_typed, find_value, suggest_values

        session = self._tab.controller.session
        option = session.option(id) if session is not None else None
        if session is None or option is None or option.is_boolean or not option.is_known:
            self._tab.app.notify(f"This agent has no {id} setting.", severity="warning")
            return
        found = find_value(option, value)
        if found is None and option.category != "model":
            self._tab.app.notify(f"There is no {id} “{value}”.{suggest_values(option, value)}", severity="warning")
            return
        if found is None and [each.id for each in choose_typed(option, value)] != [value]:
            await self._choose_value(session, option, value)
            return
        await self._set(session, option, found or value)

    async def _set(self, session: Session, option: Option, value: str | bool) -> None:
        """Set an option. A model that isn't listed is passed to the agent, which may know it."""
        is_unlisted = option.category == "model" and value not in [each.value for each in option.choices]
        if await self._tab.app.attempt(session.set_option(option.id, value, unlisted=is_unlisted)):
            now = session.option(option.id)
            if option.category == "model" and now is not None:
                self._tab.app.notify(f"Model: {now.value_name}")
        self._tab.schedule_draw()

    def show_cost(self) -> None:
        """Say how much of the context is in use, and what the session has cost."""
        from accord.tui.panels.meter import format_cost, format_tokens

        transcript = self._tab.controller.transcript
        usage = transcript.usage if transcript is not None else None
        parts = [] if usage is None else [format_tokens(usage), format_cost(usage.cost, 12)]
        text = " · ".join(filter(None, parts))
        self._tab.app.notify(text or "This agent hasn't reported its usage.")

    async def next_mode(self) -> None:
        """Switch to the next mode."""
        app, session = self._tab.app, self._tab.controller.session
        option = session.option("mode") if session is not None else None
        if session is None or option is None or not option.choices:
            app.notify("This agent has no modes.", severity="warning")
            return
        values = [each.value for each in option.choices]
        at = values.index(str(option.value)) if option.value in values else -1
        await app.attempt(session.set_option(option.id, values[(at + 1) % len(values)]))
        self._tab.schedule_draw()

    async def rewind(self) -> None:
        """Restore the files to what they were before a turn that the user picks."""
        from accord.tui.screens.picker import Picker, Row

        controller, app, cwd = self._tab.controller, self._tab.app, str(self._tab.cwd)
        saved, no_rewind = controller.checkpoints.saved, controller.process.workspace.no_rewind
        points = [] if saved is None else [each for each in reversed(saved.all) if each.files and not each.is_restore]
        if saved is None and no_rewind:
            app.notify(f"{NO_REWIND}: {no_rewind}", severity="warning")
            return
        if saved is None or not points:
            app.notify("Nothing to rewind: no file was changed through this client.")
            return
        rows, touched = [], dict[str, None]()
        for each in points:  # newest first: rewinding to a turn also restores everything that changed since
            touched |= dict.fromkeys(each.files)
            rows.append(Row(each.id, f"before: {one_line(each.label, 60)}", list_files(list(touched), cwd)))
        picked = await app.dialogs.show(Picker("Rewind files to", rows))
        if picked is not None:
            await self._report_restore(saved.restore(picked.id), "Rewound", undo=UNDO_REWIND)

    async def undo_rewind(self) -> None:
        """Revert the last rewind."""
        saved = self._tab.controller.checkpoints.saved
        if saved is not None:
            await self._report_restore(saved.undo_restore(), "The rewind is undone")

    async def _report_restore(self, work: Awaitable[Restored], title: str, *, undo: str = "") -> None:
        from accord.errors import AccordError

        try:
            report = await work
        except AccordError as error:
            self._tab.app.notify(str(error), severity="error")
            return
        details = describe_restore(report, str(self._tab.cwd), undo=undo)
        self._tab.controller.say("info" if report.is_complete else "warning", title, details)

"""The start page: choose an agent, name one, make one the default, and start it in a tab."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN, is_command_line
from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.greeting import MISCONFIGURED

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.tui.app import AccordApp
    from accord.tui.host import Finding
    from accord.tui.screens.agents import AgentsScreen
    from accord.tui.screens.picker import Picked


async def _with_model(findings: AsyncIterator[Finding], model: str) -> AsyncIterator[Finding]:
    """Report the model of the open session as such, and the doctor's finding as the default model."""
    async for each in findings:
        if each.stage == "model":
            yield each._replace(ok=True, found=f"{model}, in this session", advice="")
            each = each._replace(stage="default model")
        yield each


class StartPage:
    """Lets the user choose which agent to use."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app

    def show(self) -> None:
        run_in_background(self._app, self._choose_agent())

    def diagnose(self, target: str | None, model: str = "") -> None:
        """Diagnose the start of an agent. `model` is the model of its open session."""
        from accord.tui.screens.diagnosis import FindingsScreen

        title = f"Doctor: {target or 'the default agent'}"
        findings = self._app.host.diagnose(target)
        self._app.push_screen(FindingsScreen(title, _with_model(findings, model) if model else findings))

    async def _choose_agent(self) -> None:
        """Show the start page until the user chooses an agent or leaves."""
        picked = await self._pick_agent()
        if picked is not None:
            await self.start(picked.id)

    def _handle_key(self, page: AgentsScreen, picked: Picked) -> None:
        """Handle a function key on a row; the start page stays open below."""
        from accord.tui.screens.agents import UPDATE, session_of

        if picked.how == UPDATE:
            run_in_background(page, self._update_known(page), group="update", exclusive=True)
        elif picked.how == "f3":
            self.diagnose(picked.id if session_of(picked.id) is None else BUILT_IN)
        elif picked.how == "f6":
            if self._make_default(picked.id):
                page.set_default(picked.id)
        else:
            run_in_background(self._app, self._name_and_start(page, picked))

    async def _name_and_start(self, page: AgentsScreen, picked: Picked) -> None:
        from accord.tui.screens.agents import session_of

        name = picked.id if session_of(picked.id) is not None else await self._ask_name(picked.id)
        if name is not None:
            page.dismiss(picked._replace(id=name))

    async def _pick_agent(self) -> Picked | None:
        from accord.errors import AccordError
        from accord.tui.screens.agents import AgentsScreen

        try:
            loaded = await asyncio.to_thread(self._app.host.configuration)
        except AccordError as error:
            self._app.notify(f"{MISCONFIGURED}: {error}", severity="error")
            return None
        is_first = self._app.tabs.active.controller.process.state == "undecided"
        recent = self._recent()
        page = AgentsScreen(loaded.settings, recent, is_first=is_first, handle_key=self._handle_key)
        picked: Picked | None = await self._app.dialogs.show(page)
        return picked

    def _recent(self) -> Callable[[int], list[SessionInfo]]:
        """Return a function that lists the newest sessions, without those that are open here."""
        here = {tab.controller.id for tab in self._app.tabs} | {
            id for process in self._app.agents.processes for id in process.empty_sessions.ids
        }

        def read(most: int) -> list[SessionInfo]:
            found: list[SessionInfo] = self._app.host.recent(most + len(here))
            return [info for info in found if info.id not in here][:most]

        return read

    async def start(self, target: str) -> None:
        """Start an agent: in this tab if it has none yet, otherwise in a new one. If it has to be installed first, ask
        the user."""
        from accord.tui.screens.agents import session_of

        session = session_of(target)
        target = BUILT_IN if session is not None else target
        source = await self._describe_install(target)
        if source:
            question = f"Install {one_line(target, 40)}?"
            if not await self._app.dialogs.confirm(question, "Yes, install it", about=source, is_harmless=True):
                return
        tab, process = self._app.tabs.active, self._app.tabs.active.controller.process
        if process.state == "undecided":
            process.choose(target)
            self._app.saved.claim_draft(tab)
            is_first = session is None
        else:
            process = self._app.agents.add(target)
            tab = await self._app.tabs.add(process)
            is_first = False
        process.must_install = bool(source)
        self._app.agents.start(process)
        self._app.agents.show_change(process)  # at once, so that the user sees that something happens
        if is_first:
            self._app.first.begin(tab)
        else:
            tab.begin(session, "load" if session is not None else "new")
        tab.editor.focus()

    async def _describe_install(self, target: str) -> str:
        from accord.errors import AccordError

        try:
            return str(await asyncio.to_thread(self._app.host.describe_install, target))
        except AccordError:
            return ""  # reported when the agent is started

    async def _update_known(self, page: AgentsScreen) -> None:
        """Download the versions of the well-known agents."""
        from accord.config.well_known import refresh
        from accord.errors import AccordError

        self._app.notify("Downloading the list of agents…")
        try:
            count = await asyncio.to_thread(refresh)
        except (AccordError, OSError) as error:
            self._app.notify(f"Couldn't download the list of agents: {error}", severity="error")
            return
        self._app.notify(f"Updated the versions of {count} agents.")
        await page.read()

    # -- the user's configuration

    async def _ask_name(self, target: str) -> str | None:
        """Save a command line under a name that the user gives; return it, or None if the user cancels. An agent with a
        name keeps it."""
        from accord.tui.screens.picker import LineInputScreen

        if not is_command_line(target):
            return target
        name = ""
        while name := await self._app.dialogs.show(LineInputScreen(f"A name for {one_line(target, 60)}", name)):
            if self._save_agent(name, target):
                return str(name)
        return None

    def _save_agent(self, name: str, command: str) -> str | None:
        """Add an agent to the configuration. The default agent stays the same."""
        from accord.config.agents import AgentFile
        from accord.config.settings import AgentEntry
        from accord.errors import AccordError

        file = AgentFile()
        try:
            before = file.settings()
            default = before.chosen_agent or (BUILT_IN if not before.agents else None)
            file.put(name, AgentEntry(command=command))
            if default is not None and file.settings().chosen_agent != default:
                file.set_default(default)
        except AccordError as error:
            self._app.notify(str(error), severity="error")
            return None
        still = f" {default} is still the default." if default is not None else ""
        self._app.notify(f"Added {name}.{still}")
        return name

    def _make_default(self, target: str) -> bool:
        from accord.config.agents import AgentFile
        from accord.errors import AccordError
        from accord.tui.screens.agents import session_of

        if is_command_line(target) or session_of(target) is not None:
            self._app.notify("Only a named agent can be the default: f5 names it.", severity="warning")
            return False
        try:
            AgentFile().set_default(target)
        except AccordError as error:
            self._app.notify(str(error), severity="error")
            return False
        self._app.notify(f"{target} is now the default agent.")
        return True

"""Choosing an agent: the start page, what can be done with an agent there, and how one is started in a tab."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN, is_command_line
from accord.tui.fault import beside
from accord.tui.greeting import MISCONFIGURED
from accord.tui.link import Link
from accord.tui.plain import one_line
from accord.tui.shell import Shell

if TYPE_CHECKING:
    from accord.model.session import SessionInfo
    from accord.tui.screens.agents import AgentsScreen
    from accord.tui.screens.picker import Picked


class Choosing(Shell):
    """The commands about which agent to talk with."""

    def start_page(self) -> None:
        self.action_new_tab()

    def action_new_tab(self) -> None:
        beside(self, self._choose_agent())

    async def _choose_agent(self) -> None:
        """Shows the start page until an agent was chosen, or the user goes away."""
        picked = await self._pick_agent()
        if picked is not None:
            await self._begin_with(picked.id)

    def _aside(self, page: AgentsScreen, picked: Picked) -> None:
        """Does something about a row of the start page, which stays below."""
        from accord.tui.screens.agents import session_of

        if picked.how == "f3":
            self._diagnose(picked.id if session_of(picked.id) is None else BUILT_IN)
        elif picked.how == "f6":
            if self._make_default(picked.id):
                page.default_is(picked.id)
        else:
            beside(self, self._keep_and_begin(page, picked))

    async def _keep_and_begin(self, page: AgentsScreen, picked: Picked) -> None:
        from accord.tui.screens.agents import session_of

        kept = picked.id if session_of(picked.id) is not None else await self._named(picked.id)
        if kept is not None:
            page.dismiss(picked._replace(id=kept))

    async def _pick_agent(self) -> Picked | None:
        from accord.errors import AccordError
        from accord.tui.screens.agents import AgentsScreen

        try:
            loaded = await asyncio.to_thread(self.outside.configuration)
        except AccordError as error:
            self.notify(f"{MISCONFIGURED}: {error}", severity="error")
            return None
        is_first = self.active_pane.talk.link.state == "undecided"
        recent = self._recent() if hasattr(self.outside, "recent") else None  # not everybody keeps sessions
        page = AgentsScreen(loaded.settings, recent, is_first=is_first, aside=self._aside)
        picked: Picked | None = await self.answer_of(page)
        return picked

    def _recent(self) -> Callable[[int], list[SessionInfo]]:
        """What reads the newest sessions that are not here already."""
        here = {pane.talk.id for pane in self.panes} | {id for link in self.links for id in link.untouched.ids}

        def read(most: int) -> list[SessionInfo]:
            found: list[SessionInfo] = self.outside.recent(most + len(here))  # type: ignore[attr-defined]
            return [info for info in found if info.id not in here][:most]

        return read

    async def _begin_with(self, target: str) -> None:
        """Starts an agent: in this tab if it has none yet, otherwise in a new one."""
        from accord.tui.screens.agents import session_of

        session = session_of(target)
        target = BUILT_IN if session is not None else target
        pane, link = self.active_pane, self.active_pane.talk.link
        id, how = (session, "load") if session is not None else (None, "new")
        if link.state == "undecided":
            link.decide(target)
            self.claim_draft(pane)
            id, how = (id, how) if session is not None else self.first_session
        else:
            link = Link(self.outside, target, self)
            self.links.append(link)
            pane = await self.add_pane(link)
        self.open_link(link)
        self.link_changed(link)  # that something was begun is seen at once
        pane.begin(id, how)
        pane.editor.focus()

    # -- the user's configuration

    async def _named(self, target: str) -> str | None:
        """Keeps a command line under a name that the user gives, and asks until it is one; others have a name already.
        None when the user goes back."""
        from accord.tui.screens.picker import Asking

        if not is_command_line(target):
            return target
        name = ""
        while name := await self.answer_of(Asking(f"A name for {one_line(target, 60)}", name)):
            if kept := self._keep_agent(name, target):
                return kept
        return None

    def _keep_agent(self, name: str, command: str) -> str | None:
        """Adds an agent to the configuration. The agent that is meant when none is named stays the same."""
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
            self.notify(str(error), severity="error")
            return None
        still = f" Without a name, {default} is still meant." if default is not None else ""
        self.notify(f"{name} is configured now.{still}")
        return name

    def _make_default(self, target: str) -> bool:
        from accord.config.agents import AgentFile
        from accord.errors import AccordError
        from accord.tui.screens.agents import session_of

        if is_command_line(target) or session_of(target) is not None:
            self.notify("Only an agent that has a name can be the default one: f5 gives it one.", severity="warning")
            return False
        try:
            AgentFile().set_default(target)
        except AccordError as error:
            self.notify(str(error), severity="error")
            return False
        self.notify(f"{target} is meant now when no agent is named.")
        return True

    # -- the doctor

    def action_doctor(self) -> None:
        self._diagnose(self.active_pane.talk.link.target)

    def _diagnose(self, target: str | None) -> None:
        from accord.tui.screens.findings import FindingsScreen

        self.push_screen(FindingsScreen(f"Doctor: {target or 'the default agent'}", self.outside.diagnose(target)))

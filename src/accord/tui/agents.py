"""The agent processes of this client: starting, restarting and killing them, and logging in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from accord.tui.agent.process import AgentProcess
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.tab.tab import Tab

QUIT_SECONDS = 1.0
"""How long quitting waits for agents to exit. The others are stopped in the background, in the usual stages."""


class Agents:
    """The agent processes that the tabs use. Sessions of one agent share a process."""

    def __init__(self, app: AccordApp) -> None:
        self.processes: list[AgentProcess] = []
        self._app = app

    def add(self, target: str | None, *, is_undecided: bool = False) -> AgentProcess:
        """Add an agent that isn't started yet."""
        process = AgentProcess(self._app.host, target, self._app.questions, is_undecided=is_undecided)
        self.processes.append(process)
        return process

    def start(self, process: AgentProcess) -> None:
        """Start an agent in the background."""
        run_in_background(self._app, process.open())

    def show_change(self, process: AgentProcess) -> None:
        """Draw the tabs of an agent whose state changed."""
        for tab in self._app.tabs:
            if tab.controller.process is process:
                if process.state == "starting":
                    tab.empty_text.show_start()
                tab.schedule_draw()

    def release(self, process: AgentProcess) -> None:
        """Close an agent if no tab uses it any more."""
        if not any(each.controller.process is process for each in self._app.tabs):
            self.processes.remove(process)
            run_in_background(self._app, process.close())

    def restart(self, tab: Tab) -> None:
        """Restart the agent of a tab, or open a new session if only that is missing."""
        if tab.controller.state != "gone":
            self._app.notify("The agent is running. F12 kills it if it hangs.")
            return
        old = tab.controller.process
        if old.is_open:
            tab.restart(old, tab.controller.id)
            return
        process = AgentProcess(self._app.host, old.target, self._app.questions)
        process.log = old.log  # its history stays available
        process.log.add("problem", b"the agent is restarted")
        process.notes = old.notes
        process.must_install = old.must_install
        self.processes[self.processes.index(old)] = process
        run_in_background(self._app, old.close())
        self.start(process)
        for each in self._app.tabs:
            if each.controller.process is old:
                each.restart(process, each.controller.id)

    def cancel_start(self, tab: Tab) -> None:
        """Cancel a start that the user doesn't want to wait for. An agent that other tabs use keeps running."""
        process = tab.controller.process
        if process.state == "starting":
            process.cancel_start()
            return
        tab.controller.opener.cancel()
        uses = (each.controller for each in self._app.tabs)
        if not any(each.process is process and each.session is not None for each in uses):
            process.was_killed = True
            process.kill()

    def kill(self, tab: Tab) -> None:
        """Kill the agent of a tab, after a confirmation unless it is stuck."""
        controller, process = tab.controller, tab.controller.process
        if process.state == "undecided":
            self._app.notify("There is no agent yet: ctrl+n chooses one.")
        elif controller.state in ("starting", "opening"):
            self.cancel_start(tab)
        elif process.state in ("gone", "failed"):
            self._app.notify("The agent has already exited: ctrl+r restarts it.")
        else:
            run_in_background(self._app, self._kill(tab))

    async def _kill(self, tab: Tab) -> None:
        process = tab.controller.process
        if not tab.controller.turns.is_stuck:
            question = "Kill the agent?"
            if not await self._app.dialogs.confirm(question, "Yes, kill it", about="ctrl+r restarts it."):
                return
        process.was_killed = True
        process.kill()

    def log_in(self, tab: Tab, provider: str = "") -> None:
        """Log in to the agent of a tab: with the key of a provider, or by a method that the user chooses."""
        if self._app.key_login.has_keys(tab.controller.process):
            run_in_background(self._app, self._app.key_login.run(tab, provider))
        elif provider:
            self._app.notify("This agent manages its logins itself: use /login without a name.", severity="warning")
        else:
            run_in_background(self._app, self._log_in(tab.controller.process))

    async def _log_in(self, process: AgentProcess) -> None:
        methods = [] if process.agent is None else process.agent.usable_logins
        if process.agent is None or not methods:
            self._app.notify("This agent has no logins.", severity="warning")
            return
        method = await self._app.questions.choose_login(process, methods, is_required=False)
        if method is not None:
            await self._app.attempt(process.agent.login(method), "Logged in.")

    def log_out(self, tab: Tab) -> None:
        """Log out of the agent of a tab."""
        agent = tab.controller.process.agent
        if agent is not None:
            run_in_background(self._app, self._app.attempt(agent.logout(), "Logged out."))

    async def close(self) -> None:
        """Close all agents, and leave those that take too long to exit in the background."""
        closing = {asyncio.ensure_future(process.close()): process for process in self.processes}
        if closing:
            _, late = await asyncio.wait(closing, timeout=QUIT_SECONDS)
            for task in late:
                closing[task].leave()

"""Actions that may solve a problem of a tab's session, above its prompt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from accord.tui.errors import run_in_background
from accord.tui.tab.panel_slot import PanelSlot

if TYPE_CHECKING:
    from accord.tui.panels.actions import ActionPanel, UserAction
    from accord.tui.session.login_problem import LoginProblem
    from accord.tui.tab.tab import Tab

ENTER_KEY = "enter_key"
CHOOSE_MODEL = "choose_model"


class ActionView:
    """Shows the actions until the user chooses one, or sends another prompt."""

    def __init__(self, tab: Tab) -> None:
        self.slot: PanelSlot[ActionPanel] = PanelSlot(tab.mount_above_prompt, tab.focus_editor)
        self._tab = tab
        self._problem: LoginProblem | None = None

    def offer(self, problem: LoginProblem) -> bool:
        """Offer another key and another model. Return whether this agent's keys can be entered here."""
        if not self._tab.app.key_login.has_keys(self._tab.controller.process):
            return False
        from accord.tui.panels.actions import ActionPanel, UserAction

        self._problem = problem
        self.slot.hide()
        enter = UserAction(ENTER_KEY, "Enter another key" if problem.is_rejected else "Enter a key")
        choose = UserAction(CHOOSE_MODEL, "Choose another model")
        self.slot.show(partial(ActionPanel, problem.reason, [enter, choose]))
        if self._tab.app.is_calm:
            self._tab.controller.say("info", "Tab, then 1: enter another key; 2: choose another model")
        return True

    def choose(self, action: UserAction | None) -> None:
        """Run the chosen action, and return to the prompt."""
        problem, app = self._problem, self._tab.app
        self.slot.hide()
        self._tab.editor.focus()
        if action is None or problem is None:
            return
        if action.id == ENTER_KEY:
            run_in_background(app, app.key_login.run(self._tab, problem.provider, problem.reason))
        else:
            run_in_background(app, self._tab.commands.choose("model"))

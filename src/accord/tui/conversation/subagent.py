"""A subagent as a block: a line in the conversation of whom it works for."""

from __future__ import annotations

from textual.strip import Strip

from accord.model.session import Notice, Subagent
from accord.tui.conversation.block import UNTOLD, UNTOLD_MARK, Block, Setting
from accord.tui.plain import one_line

_LETTERS = 4
"""How many of the last messages to and from a subagent are shown."""
_MARKS = {"running": "◐", "requires_action": "?", "idle": "✓"}


class Delegated(Notice, kw_only=True):
    """Told in the conversation when the agent begins a subagent; `child` is as it stands now."""

    child: Subagent


class SubagentBlock(Block):
    """What works for the agent: its title and its state. Its own conversation is in another tab."""

    def __init__(self, child: Subagent, setting: Setting, is_open: bool | None = None) -> None:
        super().__init__(setting, is_open)
        self.child = child

    def drawn(self, before: list[Strip]) -> list[Strip]:
        look, child = self.look, self.child
        is_untold = self.setting.untold(child)
        state = UNTOLD if is_untold else state_of(child)
        style = {"running": look.accent, "requires_action": look.warn, "idle": look.good}.get(
            child.state or "", look.dim
        )
        mark = UNTOLD_MARK if is_untold else _MARKS.get(child.state or "", "○")
        title = one_line(child.title or "A subagent", max(self.width - len(state) - 18, 10))
        head = look.line(
            (f"{mark} ", look.warn if is_untold else style),
            ("⑂ ", look.accent),
            (title, None),
            (f"  subagent, {state}", look.dim),
        )
        lines = [head]
        if child.description:
            lines.append(look.line((f"  {one_line(child.description, max(self.width - 2, 4))}", look.dim)))
        for is_to_it, words in self.setting.letters(child)[-_LETTERS:]:
            sign = "→" if is_to_it else "←"
            lines.append(look.line((f"  {sign} ", look.accent), (one_line(words, max(self.width - 4, 4)), look.dim)))
        if self.setting.chosen == ("subagent", child.session_id):
            hints = ["enter shows what it says", self.setting.stop_hint(child)]
            words = " · ".join(filter(None, hints))
            lines.append(look.line((f"  {one_line(words, max(self.width - 2, 4))}", look.warn)))
        return [*self.blank(), *self.margin(lines)]

    def text(self) -> str:
        return "\n".join(filter(None, [self.child.title, self.child.description]))


def state_of(child: Subagent) -> str:
    """How a subagent is, in a word or two. One of which nothing is confirmed is not said to run, nor to have ended."""
    if child.state == "idle":
        reason = child.stop_reason
        return "done" if reason in (None, "end_turn") else one_line(str(reason).replace("_", " "), 40)
    return {"running": "running", "requires_action": "waits"}.get(child.state or "", "not known")

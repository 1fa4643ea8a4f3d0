"""Block for a subagent: one line in its parent's transcript."""

from __future__ import annotations

from textual.strip import Strip

from accord.model.session import Subagent
from accord.terminal_text import one_line
from accord.tui.session.activity import NO_RESULT, describe_state
from accord.tui.transcript.blocks.base import NO_RESULT_MARK, Block, BlockContext

_MAX_MESSAGES = 4
"""Latest messages to and from a subagent to show."""
_MARKS = {"running": "◐", "requires_action": "?", "idle": "✓"}


class SubagentBlock(Block):
    """A subagent: its title and state. Its own transcript opens in another tab."""

    def __init__(self, child: Subagent, context: BlockContext, is_open: bool | None = None) -> None:
        super().__init__(context, is_open)
        self.child = child

    def render(self, before: list[Strip]) -> list[Strip]:
        text_styles, child = self.text_styles, self.child
        is_unfinished = self.context.is_unfinished(child)
        state = NO_RESULT if is_unfinished else describe_state(child)
        style = {"running": text_styles.accent, "requires_action": text_styles.warn, "idle": text_styles.good}.get(
            child.state or "", text_styles.dim
        )
        mark = NO_RESULT_MARK if is_unfinished else _MARKS.get(child.state or "", "○")
        title = one_line(child.title or "A subagent", max(self.width - len(state) - 18, 10))
        head = text_styles.line(
            (f"{mark} ", text_styles.warn if is_unfinished else style),
            ("↳ ", text_styles.dim),
            (title, None),
            (f"  subagent, {state}", text_styles.dim),
        )
        lines = [head]
        if child.description:
            lines.append(
                text_styles.line((f"  {one_line(child.description, max(self.width - 2, 4))}", text_styles.dim))
            )
        for is_to_it, words in self.context.subagent_messages(child)[-_MAX_MESSAGES:]:
            sign = "→" if is_to_it else "←"
            lines.append(
                text_styles.line(
                    (f"  {sign} ", text_styles.dim), (one_line(words, max(self.width - 4, 4)), text_styles.dim)
                )
            )
        if self.context.chosen == ("subagent", child.session_id):
            hints = ["enter opens its session", self.context.stop_hint(child)]
            words = " · ".join(filter(None, hints))
            lines.append(text_styles.line((f"  {one_line(words, max(self.width - 2, 4))}", text_styles.warn)))
        return [*self.blank(), *self.margin(lines)]

    def text(self) -> str:
        return "\n".join(filter(None, [self.child.title, self.child.description]))

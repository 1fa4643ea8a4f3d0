"""Reviewing what the agent changed or planned, for one tab: comments stay here until they are sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from accord.errors import AccordError
from accord.model.tool import ToolCall
from accord.tui.errors import run_in_background
from accord.tui.session.review import format_comments

if TYPE_CHECKING:
    from accord.transcript.snapshot import TimelineItem
    from accord.tui.session.review import Comment, ReviewLine
    from accord.tui.tab.tab import Tab

SESSION = "Changes of this session"
WORKING_TREE = "Changes since the last commit"
NO_CHANGES = "Nothing has changed."


class ReviewView:
    """Opens the review of a session or of the working tree, and sends its comments."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._comments: dict[tuple[str, ...], list[Comment]] = {}
        """Unsent comments, by the lines that they are about: other lines make another review."""

    async def review_session(self, file: str = "") -> None:
        """Review the plan and the changes of the session, or those of the working tree if the session has none."""
        from accord.tui.screens.review_lines import list_plan, list_session_changes

        transcript = self._tab.controller.transcript
        lines: list[ReviewLine] = []
        if transcript is not None:
            plan = list_plan(transcript)
            lines = [*await asyncio.to_thread(list_session_changes, transcript, str(self._tab.cwd)), *plan]
        if lines:
            await self._show(SESSION, lines, file)
        else:
            await self.review_working_tree()

    def review_item(self, item: TimelineItem | None) -> None:
        """Review the session, beginning with the file that a selected tool call changed."""
        from accord.tui.screens.review_lines import shorten_path

        changes = [change for diff in item.diffs for change in diff.changes] if isinstance(item, ToolCall) else []
        file = shorten_path(changes[0].path, str(self._tab.cwd)) if changes else ""
        run_in_background(self._tab, self.review_session(file))

    async def review_working_tree(self) -> None:
        """Review what has changed in the working tree since the last commit; without Git, the session's changes."""
        from accord.tui.screens.review_lines import list_patch, list_session_changes

        title, transcript = WORKING_TREE, self._tab.controller.transcript
        try:
            lines = list_patch(await self._tab.app.host.read_changes())
        except AccordError:
            title = SESSION
            lines = list_session_changes(transcript, str(self._tab.cwd)) if transcript is not None else []
        await self._show(title, lines)

    async def _show(self, title: str, lines: list[ReviewLine], file: str = "") -> None:
        from accord.tui.screens.review import SEND, ReviewScreen

        tab = self._tab
        comments = self._comments.setdefault(tuple(f"{line.file}{line.sign}{line.text}" for line in lines), [])
        screen = ReviewScreen(title, lines, comments, tab.text_styles, NO_CHANGES, file)
        if await tab.app.dialogs.show(screen) == SEND and comments:
            text = format_comments(comments)
            comments.clear()
            tab.prompt_input.submit(text, is_urgent=False)

"""Tool calls that are still arriving: announced when they begin, titled as soon as their path is known, with a preview
that grows.

Nothing here reads or changes a file, or checks permissions: `tool_calls` continues with each call when the
answer is complete. A preview contains the model's own text only, so it can't show what a rule protects."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from accord.coder import modes
from accord.coder.history import replace_surrogates
from accord.coder.tool_calls import MAX_NAME, MAX_TITLE, with_short_paths
from accord.coder.tools.names import find_tool
from accord.coder.tools.text import one_line
from accord.errors import AccordError
from accord.model.tool import Diff, FileChange, ToolStatus

if TYPE_CHECKING:
    from accord.agent.tool import Tool as ToolCallHandle
    from accord.agent.turn import Turn
    from accord.coder.history import Call
    from accord.coder.session import CoderSession
    from accord.coder.tools.base import Preview, Tool

PREVIEW_SECONDS = 0.3
"""The shortest time between two previews of a call."""
GROWTH = 1.25
"""How much its arguments must have grown between them. So all previews together are at most five times as large as the
last one, however fast the model is."""
MAX_PREVIEW = 200_000
"""A preview doesn't grow beyond this many characters of arguments."""
MAX_EAGER = 4_000
"""Until the path is known, each new piece is parsed, up to this many characters of arguments."""


class StreamedCalls:
    """The calls of one turn that were announced before they could be run."""

    def __init__(
        self,
        turn: Turn,
        state: CoderSession,
        seconds: float = PREVIEW_SECONDS,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turn = turn
        self._state = state
        self._seconds = seconds
        self._clock = clock
        self._calls: dict[str, _StreamedCall] = {}

    async def begin(self, id: str, name: str, tools: Mapping[str, Tool[Any]]) -> None:
        """Announce a call."""
        if id in self._calls:
            return
        tool = find_tool(name, {}, tools)
        known = tool.name if tool is not None else one_line(replace_surrogates(name), MAX_NAME)
        handle = self._turn.tool(
            tool.name_title() if tool is not None else known or "Tool call",
            kind=tool.kind if tool is not None else "other",
            name=known,
        )
        # A call that would be refused in this mode has no preview: it won't happen.
        has_preview = tool is not None and modes.offers(self._state.mode, tool)
        self._calls[id] = _StreamedCall(handle, tool if has_preview else None)
        await handle.announce()

    async def extend(self, id: str, text: str) -> None:
        """Add a piece of a call's arguments, and show them if it is time."""
        call = self._calls.get(id)
        if call is None:
            return
        call.add(text)
        if call.tool is None or not call.is_due(self._clock(), self._seconds):
            return
        preview = call.preview()
        if preview is None:
            return
        first, call.has_title = not call.has_title, True
        if first:
            location = self._turn.session.location(preview.path)
            title = with_short_paths(preview.title, [location], self._turn.session)
            await call.handle.update(title=one_line(title, MAX_TITLE), locations=[location])
        if preview.changes:
            call.shown_at, call.shown_size = self._clock(), call.size
            await call.handle.preview(*(Diff(changes=[self._absolute(change)]) for change in preview.changes))

    def _absolute(self, change: FileChange) -> FileChange:
        return FileChange(
            operation=change.operation,
            path=self._turn.session.absolute(replace_surrogates(change.path)),
            old_text=replace_surrogates(change.old_text),
            new_text=replace_surrogates(change.new_text),
            is_fragment=change.is_fragment,
        )

    def take(self, call: Call) -> ToolCallHandle | None:
        """Hand over an announced call, which the caller continues and ends."""
        arriving = self._calls.pop(call.id, None)
        return arriving.handle if arriving is not None else None

    async def end(self, why: str = "", status: ToolStatus = "cancelled") -> None:
        """End the calls that were never continued."""
        calls, self._calls = self._calls, {}
        for call in calls.values():
            if why:
                await call.handle.show(why)
            await call.handle.update(status=status)


class _StreamedCall:
    """One call while its arguments arrive."""

    def __init__(self, handle: ToolCallHandle, tool: Tool[Any] | None) -> None:
        self.handle = handle
        self.tool = tool
        """None if there is nothing to preview."""
        self.size = 0
        self.has_title = False
        self.shown_at = float("-inf")
        self.shown_size = 0
        self._pieces: list[str] = []

    def add(self, text: str) -> None:
        self.size += len(text)
        if self.size <= MAX_PREVIEW:
            self._pieces.append(text)

    def is_due(self, now: float, seconds: float) -> bool:
        if self.size > MAX_PREVIEW:
            return False
        if not self.has_title and self.size <= MAX_EAGER:
            return True
        return now - self.shown_at >= seconds and self.size >= self.shown_size * GROWTH

    def preview(self) -> Preview | None:
        """Return a preview of the arguments so far; None if there is nothing to show."""
        assert self.tool is not None
        text = "".join(self._pieces)
        self._pieces = [text]
        arguments, partial = parse_partial(text)
        if not arguments:
            return None
        try:
            return self.tool.preview(self.tool.coerce(arguments).arguments, self.tool.coerce(partial).arguments)
        except (AccordError, TypeError, ValueError, RecursionError):  # half of something unexpected
            return None


def parse_partial(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse the beginning of a JSON object. Return its complete values, and these with the unfinished string.

    That string ends with its last whole line: half a line may be half of a key, which nothing would redact."""
    from pydantic_core import from_json  # of the libraries whose models stream arguments

    try:
        complete, partial = from_json(text, allow_partial=True), from_json(text, allow_partial="trailing-strings")
    except (ValueError, TypeError):  # TypeError: it contains half of a surrogate pair
        return {}, {}
    if not isinstance(complete, dict) or not isinstance(partial, dict):
        return {}, {}
    _drop_partial_line(complete, partial)
    return complete, partial


def _drop_partial_line(complete: Any, partial: Any) -> None:
    """Remove the last, partial line of the string at the end of `partial`, which `complete` doesn't have."""
    while True:
        if isinstance(partial, dict) and partial:
            key: Any = next(reversed(partial))
            has_it = isinstance(complete, dict) and key in complete
        elif isinstance(partial, list) and partial:
            key = len(partial) - 1
            has_it = isinstance(complete, list) and len(complete) > key
        else:
            return
        if not has_it and isinstance(partial[key], str):
            partial[key] = partial[key][: partial[key].rfind("\n") + 1]
            return
        partial, complete = partial[key], complete[key] if has_it else None

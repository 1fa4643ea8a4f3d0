"""Scripts carry out requests: they call tools, read the results, and return a reply.

A script is a generator. For each model request it runs from the start and gets the tool results that are already in
the history, until it calls a tool that has no result yet: that call is the next reply. So no state is needed between
two replies, and the same history always gives the same reply."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

from accord.coder.history import Message, Result
from accord.coder.offline.requests import Step

T = TypeVar("T")


class PlannedCall(NamedTuple):
    """A tool call that a script makes."""

    name: str
    arguments: dict[str, Any]


class ModelReply(NamedTuple):
    """A reply of the model that isn't the last of its turn: some text, and tool calls."""

    text: str
    calls: Sequence[PlannedCall]
    is_understood: bool = True
    """Whether the whole prompt was understood."""


Script = Generator[ModelReply, list[Result], T]


class Stopped(Exception):
    """Raised when a step can't be finished, which ends the request. `words` is the explanation for the user."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class Todo(NamedTuple):
    """An entry of the plan."""

    content: str
    status: str = "pending"


class Situation:
    """The information that a script has besides its request."""

    def __init__(
        self,
        *,
        tools: frozenset[str] = frozenset(),
        attached: dict[str, str] | None = None,
        todos: Sequence[Todo] = (),
        before: Sequence[Message] = (),
        undone: Sequence[Step] = (),
    ) -> None:
        self.tools = tools
        self.attached: dict[str, str] = attached or {}
        """The texts attached to the prompt, by path."""
        self.todos: list[Todo] = list(todos)
        """The current todos; scripts that change the plan update them."""
        self.before = before
        """The history before this request."""
        self.undone = undone
        """The steps that an earlier request left undone."""
        self.python = "python" if sys.platform == "win32" else "python3"

    def require(self, *names: str) -> None:
        """Raise `Stopped` unless these tools are available."""
        missing = [name for name in names if name not in self.tools]
        if missing:
            which = " and ".join(f"`{name}`" for name in missing)
            advice = " Say `switch to code mode` first." if "switch_mode" in self.tools else ""
            raise Stopped(f"That needs {which}, which isn't available in this mode.{advice}")


def use(situation: Situation, text: str, *calls: PlannedCall, lenient: bool = False) -> Script[list[Result]]:
    """Call some tools in one reply. If one fails, raise `Stopped`, unless `lenient`."""
    situation.require(*(call.name for call in calls))
    results = yield ModelReply(text, calls)
    for result in results:
        if result.failed and not lenient:
            raise Stopped(describe_failure(result))
    return results


def data_of(result: Result) -> dict[str, Any]:
    """Return a result in machine-readable form. Decisions are made by it, never by the text, whose wording may change.
    Raises `Stopped` if it isn't available, because a long history was truncated."""
    if not result.data:
        raise Stopped(f"The result of `{result.name}` is no longer available. Please ask again.")
    return result.data


def describe_failure(result: Result) -> str:
    """Describe the failure of a tool."""
    if result.data and result.data.get("problem") == "declined":
        return f"Not {'run' if result.name == 'run_command' else 'done'}: the permission was declined."
    first, _, rest = result.text.strip().partition("\n")
    if not rest:
        end = "" if first.endswith((".", "!", "?", ":")) else "."
        return f"`{result.name}` failed: {first[:600]}{end}"
    return f"`{result.name}` failed: {first[:600]}\n\n{rest[:1200]}"


def call(name: str, /, **arguments: Any) -> PlannedCall:
    """Make a tool call; omits arguments with the value None."""
    return PlannedCall(name, {key: value for key, value in arguments.items() if value is not None})

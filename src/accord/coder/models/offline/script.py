"""How a step is carried out: a script asks tools, reads what they said, and ends with words.

A script is a generator. It is run from its beginning each time the model is asked, and given what the history says its
tools have said so far, until it wants something that has not been done yet: that is the next answer. So nothing is kept
between two answers, and the same history always gives the same one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

from accord.coder.history import Message, Result
from accord.coder.models.offline.requests import Step

T = TypeVar("T")


class Want(NamedTuple):
    """A tool that is to be used."""

    name: str
    arguments: dict[str, Any]


class Ask(NamedTuple):
    """One answer of the model that is not the last: what it says, and the tools it calls."""

    said: str
    wants: Sequence[Want]


Script = Generator[Ask, list[Result], T]


class Stopped(Exception):
    """A step cannot be finished, and neither can those after it. Says why."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class Todo(NamedTuple):
    """Something to be remembered, as the plan has it."""

    content: str
    status: str = "pending"


class Situation:
    """What a script knows besides its step."""

    def __init__(
        self,
        *,
        tools: frozenset[str] = frozenset(),
        attached: dict[str, str] | None = None,
        todos: Sequence[Todo] = (),
        before: Sequence[Message] = (),
        undone: Sequence[Step] = (),
        instructions: str = "",
    ) -> None:
        self.tools = tools
        self.attached = attached or {}
        """The texts that came with the prompt, by path."""
        self.todos = list(todos)
        """What is to be remembered now; scripts that change it say so here too."""
        self.before = before
        """The conversation up to this request."""
        self.undone = undone
        """What an earlier request left undone."""
        self.python = "python" if "the system is Windows" in instructions else "python3"

    def need(self, *names: str) -> None:
        """Raises `Stopped` unless these tools can be used now."""
        missing = [name for name in names if name not in self.tools]
        if missing:
            which = " and ".join(f"`{name}`" for name in missing)
            advice = " Say `switch to code mode` first." if "switch_mode" in self.tools else ""
            raise Stopped(f"That needs {which}, which I am not given in this mode.{advice}")


def use(situation: Situation, said: str, *wants: Want, lenient: bool = False) -> Script[list[Result]]:
    """Uses some tools in one answer. A failure ends the step, unless `lenient`: then the results say so."""
    situation.need(*(want.name for want in wants))
    results = yield Ask(said, wants)
    for result in results:
        if result.failed and not lenient:
            raise Stopped(failure(result))
    return results


def failure(result: Result) -> str:
    """A tool's failure, in words."""
    said = result.text.strip()
    first, _, rest = said.partition("\n")
    if not rest:
        end = "" if first.endswith((".", "!", "?", ":")) else "."
        return f"`{result.name}` could not do it: {first[:600]}{end}"
    return f"`{result.name}` could not do it: {first[:600]}\n\n{rest[:1200]}"


def want(name: str, /, **arguments: Any) -> Want:
    """A tool with its arguments; those that are None are left out."""
    return Want(name, {key: value for key, value in arguments.items() if value is not None})

"""What a tool is, and what it has at hand while it works.

A call goes through five steps, and `coder/calls.py` takes them in this order:

    1. the arguments are read (`read`): a fault goes back to the model, with its path;
    2. the call is announced with its title, kind, places and raw input;
    3. the tool prepares (`prepare`): it looks, and shows what it is about to do (a diff, a command), changing nothing;
    4. the permission policy decides about its `actions`, and asks the user where that is what it says;
    5. it is carried out (`run`), and its outcome goes back to the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from accord.coder.models.base import ToolSpec
from accord.errors import AccordError
from accord.model.content import Image
from accord.model.noun import Noun
from accord.model.tool import Location, ToolKind

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool as Shown
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk
    from accord.policy.action import Action

A = TypeVar("A")


class ToolFault(AccordError):
    """A tool could not do what it was asked. The model is told, and may try otherwise."""


class Outcome(Noun):
    """What a call gave."""

    text: str
    """For the model."""
    images: list[Image] = []
    raw: Any = None
    """For whoever looks at the call closely; `text` when None."""
    failed: bool = False


class Work:
    """What a tool has at hand during one call."""

    def __init__(self, turn: Turn, desk: Desk, shown: Shown) -> None:
        self.turn = turn
        self.desk = desk
        """What this session has: its files, its mode, its plan, its servers."""
        self.shown = shown
        """The call as the user sees it: `await work.shown.show(...)`, `.diff(path, old, new)`, `.update(...)`."""
        self.prepared: Any = None
        """What `prepare` found out, for `run`."""

    @property
    def session(self) -> Session:
        return self.turn.session


class Tool(ABC, Generic[A]):
    """One thing a model can do. Objects hold no state of a session: that is the desk's."""

    name: str
    description: str
    kind: ToolKind = "other"
    changes: bool = False
    """Whether it may change something: then it runs alone, and not at all while only a plan is wanted."""
    arguments: ClassVar[Any] = None
    """The msgspec struct that its arguments are read into. Its docstrings and fields make the schema."""

    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(name=self.name, description=self.description, parameters=schema_of(self.arguments))

    def read(self, arguments: dict[str, Any]) -> A:
        """The arguments as this tool takes them. Raises `ToolFault` with the place of the fault."""
        try:
            read: A = msgspec.convert(arguments, self.arguments, strict=False)
            return read
        except msgspec.ValidationError as error:
            raise ToolFault(f"{self.name}: {error}") from None

    @abstractmethod
    def title(self, args: A) -> str:
        """One line for people: what will be done, to what."""

    def locations(self, args: A) -> Sequence[str | Location]:
        """The files it is about."""
        return ()

    async def prepare(self, args: A, work: Work) -> None:
        """Looks before anybody is asked, and shows what is about to happen. Changes nothing; may raise `ToolFault`."""

    def actions(self, args: A, work: Work) -> Sequence[Action]:
        """What the policy decides about. Nothing, for what needs no permission."""
        return ()

    @abstractmethod
    async def run(self, args: A, work: Work) -> Outcome:
        """Does it. May raise `ToolFault`; being cancelled stops it at once."""


def schema_of(arguments: Any) -> dict[str, Any]:
    """The JSON schema of a struct, in the plain form that every provider takes: no references, no titles."""
    (schema,), definitions = msgspec.json.schema_components([arguments], ref_template="{name}")

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return plain(definitions[value["$ref"]])
        told = {
            key: plain(item) if key != "properties" else {name: plain(each) for name, each in item.items()}
            for key, item in value.items()
            if key != "title"
        }
        if "enum" in told and all(isinstance(each, str) for each in told["enum"]):
            told.setdefault("type", "string")  # some providers want to be told
        match told:
            case {"anyOf": [{**kind}, {"type": "null"}], "default": None}:
                # What may be left out is left out; a null would say the same, in words that not every provider knows.
                del told["anyOf"], told["default"]
                told |= kind
        return told

    flat: dict[str, Any] = plain(schema)
    return flat

"""The base class of tools, and the objects that a tool can use during a call.

A call has five steps, which `coder/tool_calls.py` takes in this order:

    1. `coerce` brings the arguments into the form of the schema, `read` decodes them; an error goes to the model;
    2. the call is announced with its title, kind, locations and raw input;
    3. `prepare` looks at the files and shows what is about to happen (a diff, a command), without changing anything;
    4. the permission policy decides about the tool's `actions`, and asks the user if necessary;
    5. `run` does the work, and its outcome goes back to the model.

If a path changes its target during the last three steps (`Moved`), all three are repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from accord.coder.models.base import ToolSpec
from accord.coder.tools.argument_errors import HIDDEN, describe_invalid
from accord.coder.tools.arguments import Coerced, coerce
from accord.errors import AccordError
from accord.model.content import Image
from accord.model.record import Record
from accord.model.tool import FileChange, Location, ToolKind

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool as ToolCallHandle
    from accord.agent.turn import Turn
    from accord.coder.sandbox import SandboxedCommand
    from accord.coder.session import CoderSession
    from accord.policy.action import Action

A = TypeVar("A")


class ToolError(AccordError):
    """A tool failed. The message goes to the model, which can try something else."""

    def __init__(self, message: str, *, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """The kind of problem, where a caller may react to it: `missing` if a file doesn't exist, `declined` if a
        permission was."""


class Outcome(Record):
    """The result of a call."""

    text: str
    """For the model."""
    images: list[Image] = []
    raw: Any = None
    """Structured output for clients that show it; `text` if None. The offline model decides by it alone."""
    failed: bool = False
    is_in_background: bool = False
    """Whether the call stays open: what it started reports the end."""
    problem: str = ""
    """The kind of the error if the call failed (`ToolError.kind`)."""


class Preview(Record):
    """The title and content of a call while its arguments arrive. No file is read for it."""

    title: str
    path: str
    """The file the call is about."""
    changes: Sequence[FileChange] = ()
    """Their paths may be relative to the working directory."""


class ToolContext:
    """The objects a tool can use during one call."""

    def __init__(self, turn: Turn, state: CoderSession, call: ToolCallHandle) -> None:
        self.turn = turn
        self.state = state
        """The session's files, mode, plan and MCP servers."""
        self.call = call
        """The call as the user sees it: `await ctx.call.show(...)`, `.diff(path, old, new)`, `.update(...)`."""
        self.prepared: Any = None
        """Set by `prepare` for `run`."""
        self.reached: dict[str, str] = {}
        """The resolved path of each path in this call. Permission covers these, and nothing else is opened."""
        self.sandboxed: SandboxedCommand | None = None
        """The command line for the sandbox, if the call was allowed without a question because it runs in it."""
        self.may_quote: bool = True
        """Whether error messages of `prepare` may say what is in the files: not if reading them needs permission."""

    @property
    def session(self) -> Session:
        return self.turn.session


class Tool(ABC, Generic[A]):
    """A tool the model can call. Tools are stateless: state belongs to the session."""

    name: str
    aliases: ClassVar[str] = ""
    """Names of similar tools of other agents, separated by spaces: some models call those."""
    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Names of other agents' tools for a part of this one's work, and the arguments that each name implies."""
    description: str
    kind: ToolKind = "other"
    changes: bool = False
    """Whether it may change something. Such tools run one at a time, and never while only a plan is wanted."""
    records_changes: bool = True
    """Whether it changes files only through the session's `files`, which records each change for `/undo`."""
    polls: bool = False
    """Whether its result changes with time, so that repeating a call makes sense."""
    follows_links: bool = True
    """Whether it uses the file that a link leads to. Otherwise permission is checked for the link itself."""
    arguments: ClassVar[Any] = None
    """The msgspec struct for its arguments. The schema is made from its fields."""

    def is_offered(self, state: CoderSession) -> bool:
        """Return whether a session has this tool. The answer must not change between two requests: it would cost the
        provider's cache."""
        return True

    def spec(self) -> ToolSpec:
        """Return the tool's description for the model."""
        return ToolSpec(name=self.name, description=self.description, parameters=schema_of(self.arguments))

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Rewrite arguments of similar tools of other agents that differ in more than their names."""
        return arguments

    def coerce(self, arguments: dict[str, Any]) -> Coerced:
        """Bring arguments into the form of the schema, as far as their meaning is clear."""
        if self.arguments is None:
            return Coerced(arguments, [])
        return coerce(self.adapt(arguments), self.arguments)

    def read(self, arguments: dict[str, Any]) -> A:
        """Decode the arguments. Raises `ToolError` with the path of the error."""
        try:
            read: A = msgspec.convert(arguments, self.arguments, strict=False)
            return read
        except msgspec.ValidationError as error:
            raise ToolError(f"{self.name}: {describe_invalid(error, self.arguments)}") from None

    def kind_of(self, args: A) -> ToolKind:
        """Return the kind of a call, if it depends on the arguments."""
        return self.kind

    def name_title(self) -> str:
        """Return the title of a call whose arguments are still unknown: `Write file`."""
        return self.name.replace("_", " ").capitalize()

    def preview(self, arguments: dict[str, Any], partial: dict[str, Any]) -> Preview | None:
        """Describe the call while its arguments arrive. Return None if there is nothing to show yet.

        `arguments` holds those that are complete. `partial` also holds the one that is arriving, up to its last whole
        line. Both have the names of the schema, but nothing has checked their types."""
        return None

    def suits(self, model: str) -> bool:
        """Return whether it is offered to a model, by its id. Other models may call it nevertheless."""
        return True

    def follows(self, args: A, path: str, ctx: ToolContext) -> bool:
        """Return whether it uses the file that a link leads to, if that depends on the path."""
        return self.follows_links

    @abstractmethod
    def title(self, args: A) -> str:
        """One line for the user: the action and its object."""

    def locations(self, args: A) -> Sequence[str | Location]:
        """Return the files the call is about."""
        return ()

    def early_actions(self, args: A, ctx: ToolContext) -> Sequence[Action]:
        """Return the actions that the policy must not deny before `prepare` reads a file for them."""
        return ()

    async def prepare(self, args: A, ctx: ToolContext) -> None:
        """Check the arguments and show what is about to happen, before the user is asked. Must not change anything."""

    def actions(self, args: A, ctx: ToolContext) -> Sequence[Action]:
        """Return the actions the policy decides about; none if no permission is needed."""
        return ()

    async def confine(self, args: A, ctx: ToolContext, *, is_optional: bool = True) -> SandboxedCommand | None:
        """Return how the call would run in a sandbox, where it needs no permission; None if it can't.

        If it `is_optional`, the model may want to run it outside."""
        return None

    @abstractmethod
    async def run(self, args: A, ctx: ToolContext) -> Outcome:
        """Do the work. Cancellation must stop it at once."""


def schema_of(arguments: Any) -> dict[str, Any]:
    """Return the JSON schema of a struct, in a form that every provider accepts: no references, no titles."""
    (schema,), definitions = msgspec.json.schema_components([arguments], ref_template="{name}")

    def simplify(value: Any) -> Any:
        if isinstance(value, list):
            return [simplify(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return simplify(definitions[value["$ref"]])
        flat = {
            key: simplify(item)
            if key != "properties"
            else {name: simplify(each) for name, each in item.items() if HIDDEN not in each}
            for key, item in value.items()
            if key != "title"
        }
        if flat.get("type") == "object":
            flat.pop("description", None)  # the struct's docstring, which doesn't help the model
        if "enum" in flat and all(isinstance(each, str) for each in flat["enum"]):
            flat.setdefault("type", "string")  # some providers require it
        match flat:
            case {"anyOf": [{**kind}, {"type": "null"}], "default": None}:
                # Optional arguments can be omitted; not every provider accepts null as well.
                del flat["anyOf"], flat["default"]
                flat |= kind
        return flat

    simplified: dict[str, Any] = simplify(schema)
    return simplified

"""The conversation as the model sees it: prompts, answers, tool calls and their results.

The user's side is the session's statements. Both are saved in one order, so that a session can continue in another
process."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import msgspec

from accord.model.content import Audio, Content, Image, Resource, ResourceLink, TextContent, UnknownContent
from accord.model.record import Record

log: logging.Logger = logging.getLogger("accord.coder")
KnownContent = Union[TextContent, Image, Audio, ResourceLink, Resource]


class Text(Record, tag=True):
    """Text from the model."""

    text: str
    extra: dict[str, Any] | None = None
    """Data that its provider needs back unchanged, such as an id. Opaque to everyone else."""


class Thought(Record, tag=True):
    """Reasoning from the model."""

    text: str
    extra: dict[str, Any] | None = None
    """Data that its provider needs back unchanged: a signature, an id."""


class Call(Record, tag=True):
    """A tool call requested by the model."""

    id: str
    name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None
    fault: str | None = None
    """Why the arguments are invalid, if they are."""


Part = Union[Text, Thought, Call]


class UserSaid(Record, tag=True):
    """A prompt, or text the user inserted during a turn."""

    content: list[KnownContent]


class ModelSaid(Record, tag=True):
    """One answer of the model: text, reasoning and tool calls."""

    parts: list[Part]
    model: str = ""
    """The model's id: another provider can't use its `extra`."""

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Result(Record):
    """The result of a tool call."""

    id: str
    """The id of the call."""
    name: str
    text: str
    images: list[Image] = []
    failed: bool = False
    data: dict[str, Any] = {}
    """The same in machine-readable form, for the offline model. Language models get the text."""


class ToolsSaid(Record, tag=True):
    """The results of the model's tool calls, in the order of the calls."""

    results: list[Result]


class Reminder(Record, tag=True):
    """A note from the agent to the model, at the place where it became relevant. Users don't see it.

    Changes during a session are announced here: in the system prompt, they would invalidate the provider's cache."""

    text: str
    mode: str = ""
    """The mode that it announces, if it does."""

    def render(self) -> str:
        """Return the text for a model."""
        return f"<system-reminder>\n{self.text}\n</system-reminder>"


class Summary(Record, tag=True):
    """Replaces everything before it."""

    text: str
    prompts: list[str] = []
    """The user's last messages in the replaced part, unchanged."""
    plan: list[str] = []
    """The plan at that time, one line per step."""

    def render(self) -> str:
        """Return the text for a model."""
        pieces = [f"Summary of the conversation so far:\n\n{self.text}"]
        if self.prompts:
            quoted = "\n".join(f"<message>\n{prompt}\n</message>" for prompt in self.prompts)
            pieces.append(f"The user's last messages in it, word for word. The summary says what is done.\n\n{quoted}")
        if self.plan:
            pieces.append("The current plan:\n\n" + "\n".join(self.plan))
        return "\n\n".join(pieces)


class Pruned(Record, tag=True):
    """Marks old tool results as omitted from the history. Only in the store."""

    messages: int
    """The number of messages, from the start of the history, in which results were omitted."""


Message = Union[UserSaid, ModelSaid, ToolsSaid, Reminder, Summary]
Note = Union[Message, Pruned]
INTERRUPTED = "This call was interrupted; it may have had an effect."
KIND = "model"
"""The kind under which messages are saved in the store."""


def filter_supported(content: list[Content]) -> list[KnownContent]:
    """Return the content of a prompt that models support. Blank text is dropped: some providers reject it."""
    return [
        piece
        for piece in content
        if not isinstance(piece, UnknownContent) and not (isinstance(piece, TextContent) and not piece.text.strip())
    ]


def replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which some models and file names contain: they can't be encoded as UTF-8."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        case dict():
            return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
        case list():
            return [replace_surrogates(item) for item in value]
    return value


def to_note(message: Note) -> Any:
    """Convert a message to plain data for the store."""
    return msgspec.to_builtins(message)


def from_note(data: Any) -> Note | None:
    """Convert data from the store to a message; None if it is from an unknown version."""
    try:
        message: Note = msgspec.convert(data, Note)
    except msgspec.ValidationError as error:
        log.warning("skipping an unreadable message of the session: %s", error)
        return None
    return message


def answer_all(calls: Sequence[Call], results: Iterable[Result], otherwise: str) -> ToolsSaid:
    """Return a result for every call, in order; `otherwise` for calls that have none."""
    given = {result.id: result for result in results}
    return ToolsSaid(
        results=[
            given.get(call.id) or Result(id=call.id, name=call.name, text=otherwise, failed=True) for call in calls
        ]
    )


def repair(messages: Sequence[Message]) -> list[Message]:
    """Make a history that every provider accepts: each call has exactly one result, right after it.

    A killed process leaves calls without results. Two processes that worked on one session at the same time leave their
    messages interleaved."""
    whole: list[Message] = []
    waiting: list[tuple[list[Call], dict[str, Result], int]] = []  # calls, their results by id, where those belong
    for message in messages:
        if isinstance(message, ToolsSaid):
            for result in message.results:
                asked = next((given for calls, given, _ in reversed(waiting) if _lacks(calls, given, result.id)), None)
                if asked is not None:
                    asked[result.id] = result
            continue
        last = whole[-1] if whole else None
        if isinstance(message, ModelSaid) and isinstance(last, ModelSaid):
            message = ModelSaid(parts=[Text(text=last.text), *message.parts], model=message.model)
            whole.pop()
        whole.append(message)
        if isinstance(message, ModelSaid) and message.calls:
            waiting.append((message.calls, {}, len(whole)))
            whole.append(ToolsSaid(results=[]))  # filled in below
    for calls, given, index in waiting:
        whole[index] = answer_all(calls, given.values(), INTERRUPTED)
    return whole


def _lacks(calls: Sequence[Call], given: Mapping[str, Result], id: str) -> bool:
    return id not in given and any(call.id == id for call in calls)

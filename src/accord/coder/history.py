"""What a model is told of a session: who said what, which tools were called, and what they gave.

This is the model's side of the conversation; what a person sees of it are the session's statements. Both are kept in
the store, in one order, so that a session goes on in another process where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import msgspec

from accord.model.content import Audio, Content, Image, Link, Resource, TextContent, UnknownContent
from accord.model.noun import Noun

log = logging.getLogger("accord.coder")
KnownContent = Union[TextContent, Image, Audio, Link, Resource]


class Text(Noun, tag=True):
    """Something the model said."""

    text: str
    extra: dict[str, Any] | None = None
    """What its provider wants back unchanged (an id, for one). Nobody else reads it."""


class Thought(Noun, tag=True):
    """Something the model thought."""

    text: str
    extra: dict[str, Any] | None = None
    """What its provider wants back unchanged: a signature, an id."""


class Call(Noun, tag=True):
    """A tool the model wants to use."""

    id: str
    name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None
    fault: str | None = None
    """Why the arguments could not be read, when they could not."""


Part = Union[Text, Thought, Call]


class UserSaid(Noun, tag=True):
    """A prompt, or something inserted while the model worked."""

    content: list[KnownContent]


class ModelSaid(Noun, tag=True):
    """One answer of the model: what it said and thought, and the tools it wants to use."""

    parts: list[Part]
    model: str = ""
    """Who said it: another provider's `extra` means nothing to this one."""

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Result(Noun):
    """What a tool gave."""

    id: str
    """The call's."""
    name: str
    text: str
    images: list[Image] = []
    failed: bool = False


class ToolsSaid(Noun, tag=True):
    """What the tools gave that the model called, in the order of its calls."""

    results: list[Result]


class Summary(Noun, tag=True):
    """Takes the place of everything before it."""

    text: str


Message = Union[UserSaid, ModelSaid, ToolsSaid, Summary]
BROKEN_OFF = "This call was broken off; it may have had an effect."
KIND = "model"
"""Under which a message is noted in the store."""


def known(content: list[Content]) -> list[KnownContent]:
    """What of a prompt a model can be told. Blank texts are left out: some providers take none."""
    return [
        piece
        for piece in content
        if not isinstance(piece, UnknownContent) and not (isinstance(piece, TextContent) and not piece.text.strip())
    ]


def sound(value: Any) -> Any:
    """A value without halves of characters, as some models and file names have: they can be neither sent nor kept."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        case dict():
            return {sound(key): sound(item) for key, item in value.items()}
        case list():
            return [sound(item) for item in value]
    return value


def to_note(message: Message) -> Any:
    """A message as plain data."""
    return msgspec.to_builtins(message)


def from_note(data: Any) -> Message | None:
    """The message that `to_note` made data of; None when another version of accord made it, in words unknown here."""
    try:
        message: Message = msgspec.convert(data, Message)
    except msgspec.ValidationError as error:
        log.warning("a message of the session cannot be read and is left out: %s", error)
        return None
    return message


def answers(calls: Sequence[Call], results: Iterable[Result], otherwise: str) -> ToolsSaid:
    """An answer to every call, in their order: what its tool gave, or `otherwise`."""
    given = {result.id: result for result in results}
    return ToolsSaid(
        results=[
            given.get(call.id) or Result(id=call.id, name=call.name, text=otherwise, failed=True) for call in calls
        ]
    )


def mended(messages: Sequence[Message]) -> list[Message]:
    """A history that every provider accepts: each call is answered once and right after it, and nothing else is.

    A process that was killed leaves calls without answers; two that worked on one session at the same time leave their
    messages in between each other's."""
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
            whole.append(ToolsSaid(results=[]))  # its place is kept
    for calls, given, index in waiting:
        whole[index] = answers(calls, given.values(), BROKEN_OFF)
    return whole


def _lacks(calls: Sequence[Call], given: Mapping[str, Result], id: str) -> bool:
    return id not in given and any(call.id == id for call in calls)

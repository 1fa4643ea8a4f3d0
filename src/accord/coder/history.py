"""What a model is told of a session: who said what, which tools were called, and what they gave.

This is the model's side of the conversation; what a person sees of it are the session's statements. Both are kept in
the store, in one order, so that a session goes on in another process where it stopped."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from accord.model.content import Audio, Content, Image, Link, Resource, TextContent, UnknownContent
from accord.model.noun import Noun

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
KIND = "model"
"""Under which a message is noted in the store."""


def known(content: list[Content]) -> list[KnownContent]:
    """What of a prompt a model can be told."""
    return [piece for piece in content if not isinstance(piece, UnknownContent)]


def to_note(message: Message) -> Any:
    """A message as plain data."""
    return msgspec.to_builtins(message)


def from_note(data: Any) -> Message:
    """The message that `to_note` made data of."""
    message: Message = msgspec.convert(data, Message)
    return message


def mended(messages: list[Message]) -> list[Message]:
    """A history that every provider accepts: each call is answered, whatever ended the process or the turn."""
    whole: list[Message] = []
    for index, message in enumerate(messages):
        whole.append(message)
        if not isinstance(message, ModelSaid) or not message.calls:
            continue
        following = messages[index + 1] if index + 1 < len(messages) else None
        answered = {result.id for result in following.results} if isinstance(following, ToolsSaid) else set()
        missing = [
            Result(id=call.id, name=call.name, text="This call was broken off; it may have had an effect.", failed=True)
            for call in message.calls
            if call.id not in answered
        ]
        if missing and isinstance(following, ToolsSaid):
            following.results.extend(missing)
        elif missing:
            whole.append(ToolsSaid(results=missing))
    return whole

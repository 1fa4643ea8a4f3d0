"""What the history tells: what was asked, what was attached, what is to be remembered, which file was spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from accord.coder.history import Call, Message, ModelSaid, Result, Summary, ToolsSaid, UserSaid
from accord.coder.models.offline.grammar import read
from accord.coder.models.offline.reading import Context
from accord.coder.models.offline.requests import ReadFiles, Step, Unclear, Unknown
from accord.coder.models.offline.script import Todo
from accord.coder.models.offline.words import Masked, Span, path_of
from accord.model.content import Link, Resource, TextContent

OFFLINE = "offline"
TODOS = "## Todos"
URGENT = "high"
"""The priority of a request's own steps in a published plan: what is being done now, and needs not be remembered."""

_TODO = re.compile(r"^- \[([ x>])\] (.+)$", re.MULTILINE)
_FILE_KEYS = {"read_file": "path", "write_file": "path", "edit_file": "path", "outline": "path", "move_file": "target"}


class Prompt(NamedTuple):
    """A prompt, understood."""

    steps: list[Step]
    attached: dict[str, str]
    """The texts that came with it, by path."""


def understood(said: UserSaid, last: str | None = None) -> Prompt:
    """What a prompt asks for. Files that came with it may stand in its words, or be what "this" means."""
    texts = [piece.text.replace("\r\n", "\n") for piece in said.content if isinstance(piece, TextContent)]
    message, bare = Masked("".join(texts)), Masked("".join(texts))
    attached: dict[str, str] = {}
    files: list[str] = []
    for piece in said.content:
        match piece:
            case TextContent(text=text):
                text = text.replace("\r\n", "\n")
                message.add(text)
                bare.add(text)
            case Link(uri=uri):
                files.append(_set_aside(message, uri))
            case Resource(resource=resource):
                files.append(_set_aside(message, resource.uri))
                if resource.text is not None:
                    attached[files[-1]] = resource.text
    if files and not "".join(texts).strip():
        return Prompt([ReadFiles(paths=files)], attached)
    context = Context(attached=files, last=last)
    steps = read(message, context)
    if files and _has_unknown(steps):
        # The words speak of "this", and the files stand beside them.
        without = read(bare, context)
        steps = steps if _has_unknown(without) else without
    return Prompt(steps, attached)


def _set_aside(message: Masked, uri: str) -> str:
    path = path_of(uri) or uri
    message.text += f" {message.set_aside(Span(kind='file', raw=path, value=path))} "
    return path


def _has_unknown(steps: Sequence[Step]) -> bool:
    return any(isinstance(step, (Unknown, Unclear)) for step in steps)


def text_of(said: UserSaid) -> str:
    """The words of a prompt."""
    return "".join(piece.text for piece in said.content if isinstance(piece, TextContent))


def calls(messages: Sequence[Message]) -> Iterator[tuple[Call, Result | None, ModelSaid]]:
    """Every call of a history with what it gave."""
    for index, message in enumerate(messages):
        if not isinstance(message, ModelSaid):
            continue
        following = messages[index + 1] if index + 1 < len(messages) else None
        results = {each.id: each for each in following.results} if isinstance(following, ToolsSaid) else {}
        for call in message.calls:
            yield call, results.get(call.id), message


def last_file(messages: Sequence[Message]) -> str | None:
    """The file that was read or changed last."""
    found: str | None = None
    for call, result, _ in calls(messages):
        key = _FILE_KEYS.get(call.name)
        path = call.arguments.get(key) if key is not None else None
        if isinstance(path, str) and path != "." and result is not None and not result.failed:
            found = path
    return found


def todos(messages: Sequence[Message]) -> list[Todo]:
    """What is to be remembered, as the history says: the plan without the steps of requests that are over."""
    found: list[Todo] = []
    for message in messages:
        if isinstance(message, Summary):
            found = todos_in(message.text)
    for call, result, said in calls(messages):
        if result is None or result.failed:
            continue
        if call.name == "set_plan":
            found = _planned(call.arguments.get("steps"), said.model)
        elif call.name == "add_todo" and isinstance(call.arguments.get("content"), str):
            content = call.arguments["content"]
            if not any(todo.content == content and todo.status != "completed" for todo in found):
                found.append(Todo(content))
    return found


def _planned(steps: Any, model: str) -> list[Todo]:
    return [
        Todo(str(step.get("content", "")), str(step.get("status", "pending")))
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, dict) and not (model == OFFLINE and step.get("priority") == URGENT)
    ]


def todos_in(text: str) -> list[Todo]:
    """The todos that a summary keeps."""
    _, found, section = text.rpartition(TODOS)
    marks = {"x": "completed", ">": "in_progress", " ": "pending"}
    return [Todo(match[2], marks[match[1]]) for match in _TODO.finditer(section)] if found else []

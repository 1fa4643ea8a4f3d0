"""Read the history: the parsed prompt with its attachments, the todos, and the file that was used last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from accord.coder.history import Call, KnownContent, Message, ModelSaid, Result, Summary, ToolsSaid, UserSaid
from accord.coder.offline.message import Masked, Span, path_from_uri
from accord.coder.offline.parser import parse_masked
from accord.coder.offline.requests import (
    Append,
    ReadFiles,
    Replace,
    Run,
    Search,
    Step,
    Unclear,
    Unknown,
    WriteFile,
)
from accord.coder.offline.rules.rule import Context
from accord.coder.offline.script import Todo
from accord.model.content import Resource, ResourceLink, TextContent, gap, prompt_text

OFFLINE = "offline"
TODOS = "## Todos"
URGENT = "high"
"""The priority of a request's own steps in a published plan, which distinguishes them from todos."""

_TODO = re.compile(r"^- \[([ x>])\] (.+)$", re.MULTILINE)
_FILE_KEYS = {
    "read_file": "file_path",
    "write_file": "file_path",
    "edit_file": "file_path",
    "outline": "path",
    "move_or_delete": "destination",
}


class Prompt(NamedTuple):
    """A parsed prompt."""

    steps: list[Step]
    attached: dict[str, str]
    """The attached texts, by path."""


def parse_prompt(said: UserSaid, last: str | None = None) -> Prompt:
    """Parse a prompt. Only text blocks are read as commands; "this" and "it" refer to attached files.

    Editors attach the open file to every prompt, so a file is never added to a command, a text to write or a search
    text that is complete without it. Otherwise a file inside a sentence ("outline ", link) counts as a word."""
    whole = prompt_text(said.content)
    words, with_files = Masked(whole), Masked(whole)
    attached: dict[str, str] = {}
    files: list[str] = []
    for index, piece in enumerate(said.content):
        match piece:
            case TextContent(text=text):
                text = text.replace("\r\n", "\n")
                for message in (words, with_files):
                    message.add(gap(message.text, text) + text)
                continue
            case ResourceLink(uri=uri):
                files.append(path_from_uri(uri) or uri)
            case Resource(resource=resource):
                files.append(path_from_uri(resource.uri) or resource.uri)
                if resource.text is not None:
                    attached[files[-1]] = resource.text
            case _:
                continue
        if _is_word(said.content, index):
            mark = with_files.set_aside(Span(kind="file", raw=files[-1], value=files[-1]))
            with_files.text += f" {mark} "
    if files and not whole.strip():
        return Prompt([ReadFiles(paths=files)], attached)
    context = Context(attached=files, last=last)
    steps = parse_masked(words, context)
    if with_files.text != words.text:
        other = parse_masked(with_files, context)
        if _has_unknown(steps) or not (_has_unknown(other) or _mentions(other, files)):
            steps = other
    return Prompt(steps, attached)


def _mentions(steps: Sequence[Step], files: Sequence[str]) -> bool:
    """Return whether a file name ended up in free text."""
    texts: list[str] = []
    for step in steps:
        match step:
            case Run(command=text) | WriteFile(content=text) | Append(content=text) | Search(text=text):
                texts.append(text)
            case Replace(old=old, new=new):
                texts += [old, new]
    return any(file in text for file in files for text in texts)


def _is_word(content: Sequence[KnownContent], index: int) -> bool:
    """Return whether a file is part of a sentence: the text before or after it ends or starts with a space."""
    before = content[index - 1] if index else None
    after = content[index + 1] if index + 1 < len(content) else None
    return (isinstance(before, TextContent) and before.text[-1:].isspace()) or (
        isinstance(after, TextContent) and after.text[:1].isspace()
    )


def had_miss(messages: Sequence[Message]) -> bool:
    """Return whether an earlier prompt wasn't understood."""
    return any(isinstance(message, UserSaid) and _has_unknown(parse_prompt(message).steps) for message in messages)


def _has_unknown(steps: Sequence[Step]) -> bool:
    return any(isinstance(step, (Unknown, Unclear)) for step in steps)


def prompt_text_of(said: UserSaid) -> str:
    """Return the text of a prompt."""
    return prompt_text(said.content)


def iterate_calls(messages: Sequence[Message]) -> Iterator[tuple[Call, Result | None, ModelSaid]]:
    """Iterate over all tool calls of a history, with their results."""
    for index, message in enumerate(messages):
        if not isinstance(message, ModelSaid):
            continue
        following = messages[index + 1] if index + 1 < len(messages) else None
        results = {each.id: each for each in following.results} if isinstance(following, ToolsSaid) else {}
        for call in message.calls:
            yield call, results.get(call.id), message


def find_last_file(messages: Sequence[Message]) -> str | None:
    """Return the file that was read or changed last."""
    found: str | None = None
    for call, result, _ in iterate_calls(messages):
        key = _FILE_KEYS.get(call.name)
        path = call.arguments.get(key) if key is not None else None
        if isinstance(path, str) and path != "." and result is not None and not result.failed:
            found = path
    return found


def collect_todos(messages: Sequence[Message]) -> list[Todo]:
    """Collect the todos from the history: the plan without the steps of past requests."""
    found: list[Todo] = []
    for message in messages:
        if isinstance(message, Summary):
            found = parse_todos(message.text)
    for call, result, said in iterate_calls(messages):
        if result is None or result.failed:
            continue
        if call.name == "set_plan":
            steps = _parse_plan(call.arguments.get("steps"), said.model)
            to_do = {todo.content for todo in found if todo.status != "completed"}
            is_added = call.arguments.get("append")
            found = [*found, *(todo for todo in steps if todo.content not in to_do)] if is_added else steps
    return found


def _parse_plan(steps: Any, model: str) -> list[Todo]:
    return [
        Todo(str(step.get("content", "")), str(step.get("status", "pending")))
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, dict) and not (model == OFFLINE and step.get("priority") == URGENT)
    ]


def parse_todos(text: str) -> list[Todo]:
    """Parse the todos in a summary."""
    _, found, section = text.rpartition(TODOS)
    marks = {"x": "completed", ">": "in_progress", " ": "pending"}
    return [Todo(match[2], marks[match[1]]) for match in _TODO.finditer(section)] if found else []

"""MCP prompts as slash commands: parse their arguments and convert their messages."""

from __future__ import annotations

import re
from typing import Any

from accord.coder.mcp.content import content_of
from accord.coder.mcp.errors import McpServerError
from accord.model.content import Content, TextContent
from accord.model.session import Command

MAX_DESCRIPTION = 300
_WORD = re.compile(r"""\s*(?:"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S*))\s*""")


def command(name: str, label: str, listed: dict[str, Any]) -> Command:
    """Return the slash command for a prompt."""
    said = str(listed.get("description") or listed.get("title") or listed["name"]).strip().splitlines()
    hint = " ".join(_hint(each) for each in _arguments(listed))
    description = f"{said[0] if said else listed['name']} ({label})"[:MAX_DESCRIPTION]
    return Command(name=name, description=description, hint=hint or None)


def parse_arguments(label: str, listed: dict[str, Any], argument: str) -> dict[str, str]:
    """Parse the text after a command into a prompt's arguments: by position, or as `name=value`.

    The last argument takes the rest, so that a prompt with one argument needs no quotes. Raises `McpServerError`."""
    names = [str(each["name"]) for each in _arguments(listed)]
    given: dict[str, str] = {}
    text = argument.strip()
    while text:
        open_names = [name for name in names if name not in given]
        name, equals, _ = text.partition("=")
        if equals and name in open_names and len(names) > 1:
            given[name], text = _word(text[len(name) + 1 :])
        elif not open_names:
            raise McpServerError(
                label,
                f"the prompt {listed['name']!r} {'only takes ' + ', '.join(names) if names else 'takes no arguments'}",
            )
        elif len(open_names) == 1:
            given[open_names[0]], text = text, ""
        else:
            given[open_names[0]], text = _word(text)
    missing = [str(each["name"]) for each in _arguments(listed) if each.get("required") and each["name"] not in given]
    if missing:
        wanted = " ".join(_hint(each) for each in _arguments(listed))
        raise McpServerError(label, f"the prompt {listed['name']!r} needs {', '.join(missing)}; expected: {wanted}")
    return given


def messages(answer: dict[str, Any]) -> list[Content]:
    """Convert a prompt's messages to the content of a user prompt. Roles are labeled if there are several."""
    said = [each for each in answer.get("messages") or () if isinstance(each, dict)]
    alternate = len({each.get("role") for each in said}) > 1
    pieces: list[Content] = []
    for each in said:
        if alternate:
            pieces.append(TextContent("\nThe user:\n" if each.get("role") == "user" else "\nThe assistant:\n"))
        if isinstance(each.get("content"), dict):
            pieces.append(content_of(each["content"]))
    return pieces


def _arguments(listed: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in listed.get("arguments") or () if isinstance(each, dict) and each.get("name")]


def _hint(argument: dict[str, Any]) -> str:
    return f"<{argument['name']}>" if argument.get("required") else f"[{argument['name']}]"


def _word(text: str) -> tuple[str, str]:
    """Return the first word, which may be quoted, and the rest."""
    found = _WORD.match(text)
    assert found is not None  # it also matches an empty word
    word = next((group for group in found.groups() if group is not None), "")
    return word, text[found.end() :]

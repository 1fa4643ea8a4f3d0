"""Find the tool that a model means: exact names first, then other spellings, then names of other agents' tools."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from accord.coder.tools.arguments import normalize
from accord.coder.tools.base import Tool
from accord.coder.tools.edits.patch import read_command

MAX_NAME = 100
MAX_LISTED = 40
EDITORS = frozenset({"strreplaceeditor", "strreplacebasededittool", "fileeditor", "texteditor", "editor"})
"""Anthropic's text editor tool and its relatives (normalized): one tool whose `command` says what to do."""
COMMANDS = frozenset({"command", "cmd", "script"})
"""Arguments (normalized) that hold a shell command."""
EDITOR_COMMANDS = {"view": "read_file", "create": "write_file", "str_replace": "edit_file", "read": "read_file"}


def find_tool(name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool[Any]]) -> Tool[Any] | None:
    """Find a tool by the name that a model used."""
    found = _find_by_name(name, arguments, tools)
    patcher = tools.get("apply_patch")
    if patcher is not None and found is not None and found.name == "run_command":
        commands = [value for key, value in arguments.items() if normalize(key) in COMMANDS]
        if any(read_command(command) is not None for command in commands):
            return patcher  # GPT models are used to a shell that has this command
    return found


def _find_by_name(name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool[Any]]) -> Tool[Any] | None:
    if name in tools:
        return tools[name]
    wanted = _bare(name)
    if wanted in EDITORS:
        return tools.get(EDITOR_COMMANDS.get(str(arguments.get("command")), ""))
    # Only our own tools are matched loosely: a server's tool may do anything, so it must be named exactly.
    own = [tool for tool in tools.values() if tool.arguments is not None]
    for tool in own:
        if normalize(tool.name) == wanted:
            return tool
    return next((tool for tool in own if wanted in map(normalize, [*tool.aliases.split(), *tool.implied])), None)


def implied_arguments(name: str, tool: Tool[Any]) -> Mapping[str, Any]:
    """The arguments that the name of a call stands for: `delete_file` says what to do with the file."""
    wanted = _bare(name)
    return next((arguments for alias, arguments in tool.implied.items() if normalize(alias) == wanted), {})


def _bare(name: str) -> str:
    """A name without special tokens of chat templates (`read_file<|channel|>`) and namespaces (`functions.`)."""
    bare = re.split(r"<\||[({\s]", name.strip(), maxsplit=1)[0]
    return normalize(re.sub(r"\A(?:functions|tools|default_api|multi_tool_use)[.:/]+", "", bare))


def describe_unknown(name: str, offered: Iterable[str]) -> str:
    """The error for an unknown tool, with the nearest name and the names there are."""
    names = list(offered)
    close = difflib.get_close_matches(name.casefold()[:MAX_NAME], names, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"unknown tool {name[:MAX_NAME]!r}.{hint} The tools are: {', '.join(names[:MAX_LISTED])}{more}."

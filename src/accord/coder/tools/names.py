"""Find the tool that a model means: exact names first, then other spellings, then names of other agents' tools."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from accord.coder.tools.arguments import normalize
from accord.coder.tools.base import Tool
from accord.coder.tools.edits.patch import is_patch, read_command
from accord.coder.tools.edits.search_replace import PATCHES, has_blocks

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
    if found is not None and found.name in ("edit_file", "apply_patch"):
        return _by_form(found, arguments, tools)
    if patcher is not None and found is not None and found.name == "run_command":
        commands = [value for key, value in arguments.items() if normalize(key) in COMMANDS]
        if any(read_command(command) is not None for command in commands):
            return patcher  # GPT models are used to a shell that has this command
    return found


def _by_form(found: Tool[Any], arguments: Mapping[str, Any], tools: Mapping[str, Tool[Any]]) -> Tool[Any]:
    """Return the tool for an edit by the form in which it is written, since other agents have other names for it."""
    patches = [value for key, value in arguments.items() if normalize(key) in PATCHES]
    if any(has_blocks(value) for value in patches):
        return tools.get("edit_file", found)
    if found.name == "edit_file" and any(is_patch(value) for value in patches):
        return tools.get("apply_patch", found)
    return found


def _find_by_name(name: str, arguments: Mapping[str, Any], tools: Mapping[str, Tool[Any]]) -> Tool[Any] | None:
    if name in tools:
        return tools[name]
    wanted = _bare(name)
    if wanted in EDITORS:
        return tools.get(EDITOR_COMMANDS.get(str(arguments.get("command")), ""))
    # Only our own tools are matched loosely: a server's tool may do anything, so it must be named exactly.
    own = [tool for tool in tools.values() if tool.arguments is not None]
    return _match(wanted, own) or _match(normalize(re.sub(r"\A\w+\.", "", name.strip())), own)


def _match(wanted: str, own: Sequence[Tool[Any]]) -> Tool[Any] | None:
    for tool in own:
        if normalize(tool.name) == wanted:
            return tool
    return next((tool for tool in own if wanted in map(normalize, [*tool.aliases.split(), *tool.implied])), None)


def implied_arguments(name: str, tool: Tool[Any]) -> Mapping[str, Any]:
    """Return the arguments that the name of a call stands for: `delete_file` says what to do with the file."""
    wanted = _bare(name)
    return next((arguments for alias, arguments in tool.implied.items() if normalize(alias) == wanted), {})


def _bare(name: str) -> str:
    """Strip special tokens of chat templates (`read_file<|channel|>`), namespaces (`functions.`) and the number of the
    call (`read_file:0`) from a name, and normalize it."""
    bare = re.sub(r":\d+\Z", "", re.split(r"<\||[({\s]", name.strip(), maxsplit=1)[0])
    return normalize(re.sub(r"\A(?:functions|tools|default_api|multi_tool_use)[.:/]+", "", bare))


ADVICE = {
    **dict.fromkeys(
        ("parallel", "batch", "batchtool"),
        "Call the tools themselves, several in one answer: those that only read run in parallel.",
    ),
    **dict.fromkeys(
        ("attemptcompletion", "finish", "done", "complete", "submit", "finalanswer", "endturn"),
        "To finish, answer in text without a call.",
    ),
    **dict.fromkeys(("think", "sequentialthinking"), "Think without a call."),
    **dict.fromkeys(("todoread", "readtodos", "gettodos"), "The plan is as you last set it with set_plan."),
    **dict.fromkeys(
        ("createdirectory", "mkdir", "makedirectory"), "Files are written with the directories that they need."
    ),
    **dict.fromkeys(
        ("python", "pythonexec", "executepython", "runpython", "codeinterpreter", "executecode", "runcode"),
        "To run code, use run_command with an interpreter, such as python3.",
    ),
    **dict.fromkeys(
        ("getdiagnostics", "diagnostics", "geterrors", "readlints", "lspdiagnostics", "problems"),
        "Run the project's linter or type checker with run_command.",
    ),
    **dict.fromkeys(
        ("codebasesearch", "semanticsearch"), "Use search with a regular expression, or explore for a question."
    ),
    **dict.fromkeys(("copyfile", "cp"), "Use run_command with cp, or write_file."),
    **dict.fromkeys(
        ("insert", "insertline", "insertedit", "insertintofile", "insertcontent"),
        "To insert text, use edit_file: replace a line by itself and the new text.",
    ),
    **dict.fromkeys(
        ("writestdin", "sendinput", "bashinput"), "Commands have no standard input: use non-interactive flags."
    ),
}
"""Advice for calls of tools that only other agents have, by their normalized names."""


def describe_unknown(name: str, offered: Iterable[str], arguments: Mapping[str, Any] | None = None) -> str:
    """Return the error for an unknown tool, with the nearest name and the names there are."""
    names = list(offered)
    close = difflib.get_close_matches(name.casefold()[:MAX_NAME], names, n=1)
    wanted = str((arguments or {}).get("command")) if _bare(name) in EDITORS else _bare(name)
    advice = ADVICE.get(wanted)
    hint = f" {advice}" if advice else f" Did you mean {close[0]}?" if close else ""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"unknown tool {name[:MAX_NAME]!r}.{hint} The tools are: {', '.join(names[:MAX_LISTED])}{more}."

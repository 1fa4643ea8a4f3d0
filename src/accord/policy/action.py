"""Actions: facts about an agent's next step, against which rules are checked.

An action is created for a permission request, for a file to read or write for the agent, or for a command to start. The
code that performs it creates it, from what it will actually do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

import msgspec

from accord.model.requests import PermissionRequest
from accord.model.tool import Diff, FileChange, ToolCall

Kind = Union[Literal["permission", "read", "write", "delete", "command", "fetch", "mcp"], str]

READING_TOOLS = frozenset({"read", "search"})
CHANGING_TOOLS = frozenset({"edit", "delete", "move"})
FILE_TOOLS = READING_TOOLS | CHANGING_TOOLS
_PATH_KEYS = ("file_path", "filePath", "path", "abs_path", "absPath", "notebook_path")
_TEXT_KEYS = ("content", "contents", "file_text", "fileText", "new_text", "newText", "text")
_OLD_KEYS = ("old_string", "oldString", "old_str", "old_text", "oldText", "before")
_NEW_KEYS = ("new_string", "newString", "new_str", "new_text", "newText", "after")


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """An action that an agent wants to perform, or requests from us."""

    kind: Kind
    """The kind of action, according to our code. For `permission`, the agent acts itself, which we can't observe."""
    tool_kind: str = ""
    """The kind of tool call, as the agent reports it."""
    title: str = ""
    """The title of the tool call, as the agent reports it."""
    paths: tuple[str, ...] = ()
    """Absolute paths of the affected files."""
    mentioned: tuple[str, ...] = ()
    """Paths that a request mentions besides the files that it changes. Rules apply to them; the user's answer
    doesn't."""
    reached: tuple[str, ...] = ()
    """The resolved paths, in the same order, if known."""
    changes: tuple[Diff, ...] = ()
    """The changes to show to the user."""
    command: str | None = None
    """A command line for a shell."""
    argv: tuple[str, ...] = ()
    """The words of a command that runs without a shell."""
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables set for the command."""
    url: str | None = None
    mcp: str | None = None
    """An MCP tool that we call ourselves, as `server/tool`."""
    agent: str = ""
    """The agent's configured name, never the one it reports itself."""
    session: str = ""
    project: str = ""
    asked: bool = False
    """Whether the agent asked for permission."""
    unclear: str | None = None
    """Why the facts above may be incomplete, if so. Such an action is never allowed without asking."""

    @property
    def line(self) -> str | None:
        """The command as one line, for display and for rules about a whole line."""
        if self.command is not None:
            return self.command.strip()
        return shlex.join(self.argv) if self.argv else None

    @property
    def change_note(self) -> str:
        """A note for the user about content that `changes` doesn't show; empty if it shows everything."""
        hidden = any(
            change.operation == "modify" and change.old_text is None and change.new_text is not None
            for diff in self.changes
            for change in diff.changes
        )
        return "replaces the whole file; its current content can't be shown" if hidden else ""

    @classmethod
    def of_request(cls, request: PermissionRequest, *, agent: str = "", project: str = "") -> Action:
        """Create an action from a permission request."""
        call = request.tool_call
        facts: dict[str, Any] = {"cwd": request.cwd or project or None}
        if call is None:
            facts |= {"command": request.command}
            if request.command is None:
                facts["unclear"] = "the request doesn't say what it will do"
        else:
            facts |= _facts(call, request.command, facts["cwd"])
        return cls(
            kind="permission",
            tool_kind=call.kind if call is not None else "execute" if request.command is not None else "",
            title=request.title or (call.title if call is not None else ""),
            agent=agent,
            session=request.session_id,
            project=project,
            asked=True,
            **facts,
        )

    @classmethod
    def of_read(
        cls, path: str, *, reached: str | None = None, session: str = "", agent: str = "", project: str = ""
    ) -> Action:
        """Create an action for reading a file; `reached` is the resolved path, if known."""
        names = (reached,) if reached is not None else ()
        return cls(kind="read", paths=(path,), reached=names, session=session, agent=agent, project=project)

    @classmethod
    def of_write(
        cls,
        path: str,
        *,
        change: FileChange | None = None,
        reached: str | None = None,
        session: str = "",
        agent: str = "",
        project: str = "",
    ) -> Action:
        """Create an action for writing a file; `change` is the change to show to the user."""
        return cls(
            kind="write",
            paths=(path,),
            reached=(reached,) if reached is not None else (),
            changes=(Diff(changes=[change]),) if change is not None else (),
            session=session,
            agent=agent,
            project=project,
        )

    @classmethod
    def of_terminal(
        cls,
        command: str,
        args: Sequence[str] = (),
        *,
        shell: bool,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        session: str = "",
        agent: str = "",
        project: str = "",
    ) -> Action:
        """Create an action for starting a command; `shell` is whether a shell will parse it."""
        line = shlex.join([command, *args]) if args else command
        return cls(
            kind="command",
            command=line if shell else None,
            argv=() if shell else (command, *args),
            cwd=cwd or project or None,
            env=tuple((env or {}).items()),
            session=session,
            agent=agent,
            project=project,
        )


def _facts(call: ToolCall, command: str | None, cwd: str | None) -> dict[str, Any]:
    """Extract the facts from a tool call, and decide whether they may be incomplete (`unclear`)."""
    given = call.raw_input if isinstance(call.raw_input, dict) else {}
    facts: dict[str, Any] = {"command": command}
    unclear: str | None = None
    # Protocol version 1 has no field for a command; by convention it is in the tool's input.
    inner = given.get("command", given.get("cmd"))
    if call.kind == "execute" or command is not None or _is_only_a_command(call, given):
        if isinstance(inner, str) and command in (None, inner):
            facts["command"] = inner
        elif command is None and isinstance(inner, list) and inner and all(isinstance(word, str) for word in inner):
            facts["argv"] = tuple(inner)
        elif inner is not None:
            unclear = "the tool call has more than one command"
        elif command is None:
            unclear = "the tool call doesn't say which command"
    elif call.kind == "fetch":
        url = given.get("url")
        facts["url"] = url if isinstance(url, str) else None
        unclear = None if isinstance(url, str) else "the tool call doesn't say which URL"
    elif call.kind not in FILE_TOOLS:
        # A tool that isn't a file tool may use its paths in any way.
        unclear = "the tool call doesn't say what it will do"
    if call.kind in FILE_TOOLS and inner is not None:
        unclear = "a file tool call contains a command"
    where = given.get("cwd", given.get("workdir"))
    if isinstance(where, str) and where:
        facts["cwd"] = os.path.join(cwd or "", where)
    base = facts.get("cwd") or cwd or ""
    # The changed files come from the diff, else from the locations, else from the input.
    named = [[os.path.join(base, path) for path in paths] for paths in _paths(call, given)]
    paths = tuple(dict.fromkeys(path for each in named for path in each))
    if call.kind in FILE_TOOLS and not paths:
        unclear = "the tool call doesn't say which files"
    main = next((each for each in named if each), [])
    facts["paths"] = paths
    facts["mentioned"] = tuple(path for path in paths if path not in main)
    facts["changes"] = tuple(call.diffs) or _diffs_from_input(main, given)
    facts["unclear"] = unclear
    return facts


def _is_only_a_command(call: ToolCall, given: dict[str, Any]) -> bool:
    """Return whether a tool of kind `other` has a `command` and no other text input (such as goose's shell tool).
    In a tool with more text input, such as an MCP tool, `command` may mean something else."""
    if call.kind != "other" or not isinstance(given.get("command"), str) or call.diffs or call.locations:
        return False
    others = {key: value for key, value in given.items() if key not in ("command", "cwd", "workdir", "description")}
    return all(value is None or isinstance(value, (bool, int, float)) for value in others.values())


def _paths(call: ToolCall, given: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the paths in the diffs, the locations and the tool's input."""
    changes = [change for diff in call.diffs for change in diff.changes]
    changed = [path for change in changes for path in (change.path, change.old_path) if path]
    located = [location.path for location in call.locations if location.path]
    return changed, located, [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and given[key]]


def _diffs_from_input(paths: Sequence[str], given: dict[str, Any]) -> tuple[Diff, ...]:
    """Build a diff from the tool's input, for agents that send none."""
    if len(paths) != 1:
        return ()
    old = next((given[key] for key in _OLD_KEYS if isinstance(given.get(key), str)), None)
    keys = _NEW_KEYS if old is not None else _TEXT_KEYS
    new = next((given[key] for key in keys if isinstance(given.get(key), str)), None)
    return (Diff.of(paths[0], old, new),) if new is not None else ()

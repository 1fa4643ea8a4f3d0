"""What is about to happen, as facts.

An action comes from a permission request, from a file that is to be read or written for the agent, or from a command
that is to be started for it. Whoever carries it out makes it, with what will really be done."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

import msgspec

from accord.model.requests import PermissionRequest
from accord.model.tool import ToolCall

Kind = Union[Literal["permission", "read", "write", "delete", "command", "fetch", "mcp"], str]

FILE_TOOLS = frozenset({"read", "edit", "delete", "move", "search"})
_PATH_KEYS = ("file_path", "filePath", "path", "abs_path", "absPath", "notebook_path")


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """Something an agent is about to do, or wants done for it."""

    kind: Kind
    """What will happen, as we know it. For a `permission` it is the agent that will do it, out of our sight."""
    tool_kind: str = ""
    """The agent's own word for it."""
    title: str = ""
    """The agent's own words again."""
    paths: tuple[str, ...] = ()
    """The files it is about, absolute."""
    command: str | None = None
    """A line for a shell."""
    argv: tuple[str, ...] = ()
    """The words of a command that is run without a shell."""
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    """Variables that are set for the command."""
    url: str | None = None
    mcp: str | None = None
    """A tool of an MCP server that we call ourselves: `server/tool`."""
    agent: str = ""
    """The name that the user knows the agent by; never what it calls itself."""
    session: str = ""
    project: str = ""
    asked: bool = False
    """Whether the agent asked before."""
    unclear: str | None = None
    """Why it is not certain that the facts above are all there is to it. Such an action is never allowed unasked."""

    @property
    def line(self) -> str | None:
        """The command as one line, for people and for rules about that very line."""
        if self.command is not None:
            return self.command.strip()
        return shlex.join(self.argv) if self.argv else None

    @classmethod
    def of_request(cls, request: PermissionRequest, *, agent: str = "", project: str = "") -> Action:
        """What a permission request is about."""
        call = request.tool_call
        facts: dict[str, Any] = {"cwd": request.cwd or project or None}
        if call is None:
            facts |= {"command": request.command}
            if request.command is None:
                facts["unclear"] = "the request does not say what will be done"
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
    def of_read(cls, path: str, *, session: str = "", agent: str = "", project: str = "") -> Action:
        """A file is to be read for the agent."""
        return cls(kind="read", paths=(path,), session=session, agent=agent, project=project)

    @classmethod
    def of_write(cls, path: str, *, session: str = "", agent: str = "", project: str = "") -> Action:
        """A file is to be written for the agent."""
        return cls(kind="write", paths=(path,), session=session, agent=agent, project=project)

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
        """A command is to be started for the agent; `shell` says whether a shell will read it."""
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
    """What a tool call says it will do, and whether that can be all."""
    given = call.raw_input if isinstance(call.raw_input, dict) else {}
    facts: dict[str, Any] = {"command": command}
    unclear: str | None = None
    # Agents of version 1 have no field of their own for a command; by custom it stands in the tool's input.
    inner = given.get("command", given.get("cmd"))
    if call.kind == "execute" or command is not None:
        if isinstance(inner, str) and command in (None, inner):
            facts["command"] = inner
        elif command is None and isinstance(inner, list) and inner and all(isinstance(word, str) for word in inner):
            facts["argv"] = tuple(inner)
        elif inner is not None:
            unclear = "the tool call names more than one command"
        elif command is None:
            unclear = "the tool call does not say which command"
    elif call.kind == "fetch":
        url = given.get("url")
        facts["url"] = url if isinstance(url, str) else None
        unclear = None if isinstance(url, str) else "the tool call does not say which address"
    elif call.kind not in FILE_TOOLS:
        # A tool that is no file tool may do anything with the paths it names.
        unclear = "the tool call does not say what will be done"
    if call.kind in FILE_TOOLS and inner is not None:
        unclear = "a file tool that names a command"
    where = given.get("cwd", given.get("workdir"))
    if isinstance(where, str) and where:
        facts["cwd"] = os.path.join(cwd or "", where)
    paths = _paths(call, given)
    if call.kind in FILE_TOOLS and not paths:
        unclear = "the tool call does not say which files"
    base = facts.get("cwd") or cwd or ""
    facts["paths"] = tuple(dict.fromkeys(os.path.join(base, path) for path in paths))
    facts["unclear"] = unclear
    return facts


def _paths(call: ToolCall, given: dict[str, Any]) -> list[str]:
    paths = [change.path for diff in call.diffs for change in diff.changes]
    paths += [change.old_path for diff in call.diffs for change in diff.changes if change.old_path]
    paths += [location.path for location in call.locations]
    paths += [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and given[key]]
    return [path for path in paths if path]

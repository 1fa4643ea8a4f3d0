"""Shared by the tests of decisions: a project in /work/app, and rules as text."""

from __future__ import annotations

from typing import Any

from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import Diff, ToolCall
from accord.policy.action import Action
from accord.policy.engine import Policy
from accord.policy.rule import Rule, parse_rule

PROJECT, HOME = "/work/app", "/home/ada"
OPTIONS = ("allow_once", "allow_always", "reject_once", "reject_always")


def rules(*texts: str) -> list[Rule]:
    return [parse_rule(text, trusted_agent=True) for text in texts]


def policy(*flags: str, **settings: Any) -> Policy:
    """A policy without links and without the clock of the machine."""
    for name in ("session", "user", "project_rules"):
        settings[name] = rules(*settings.get(name, ()))
    if "remembered" in settings and isinstance(settings["remembered"], (tuple, list)):
        settings["remembered"] = rules(*settings["remembered"])
    settings.setdefault("resolve", lambda path: path)
    return Policy(PROJECT, flags=rules(*flags), home=HOME, **{"clock": lambda: 1000.0, **settings})


def run(line: str, **fields: Any) -> Action:
    return Action.of_terminal(line, shell=True, session="s1", project=PROJECT, **fields)


def write(path: str, *, old: str | None = None, new: str | None = None) -> Action:
    path = path if path.startswith("/") else f"{PROJECT}/{path}"
    change = Diff.of(path, old, new).changes[0] if new is not None else None
    return Action.of_write(path, change=change, session="s1", project=PROJECT)


def read(path: str) -> Action:
    return Action.of_read(path if path.startswith("/") else f"{PROJECT}/{path}", session="s1", project=PROJECT)


def request(call: ToolCall | None = None, *, kinds: tuple[str, ...] = OPTIONS, **fields: Any) -> PermissionRequest:
    options = [PermissionOption(id=f"id-{kind}", name=kind, kind=kind) for kind in kinds]
    return PermissionRequest(session_id="s1", title="May I?", options=options, tool_call=call, **fields)

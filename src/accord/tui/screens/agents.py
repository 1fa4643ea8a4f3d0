"""The start page: the agents that are configured, the built-in one, those of the registry, any command line, and what
was talked about lately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN
from accord.tui.plain import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.config.settings import Loaded
    from accord.model.session import SessionInfo

_SESSION = "session "  # no name of an agent has a space in it
_WELCOME = "Welcome to Accord. "


def session_of(id: str) -> str | None:
    """The session that a row stands for; None if it stands for an agent."""
    return id.removeprefix(_SESSION) if id.startswith(_SESSION) else None


def agents_screen(
    loaded: Loaded, registry: list[Row], recent: Sequence[SessionInfo] = (), *, is_first: bool = False
) -> Picker:
    """Everything that can be talked to. What is typed and is no row is taken as a command line."""
    settings = loaded.settings
    default = settings.chosen_agent or (BUILT_IN if not settings.agents else None)
    rows = []
    for name, entry in settings.agents.items():
        command = entry.command if isinstance(entry.command, str) else " ".join(entry.command)
        rows.append(Row(name, name, entry.description or one_line(command, 120), "Configured"))
    rows.append(Row(BUILT_IN, "built-in agent", "comes with Accord", "Built in"))
    rows += [row for row in registry if row.id not in settings.agents]
    rows += [_session(info) for info in recent]
    about = "Choose an agent, or type a command line that starts one. ✓ is meant when none is named."
    return Picker(
        "Talk with",
        rows,
        about=f"{_WELCOME if is_first else ''}{about}",
        keys={"f3": "doctor", "f5": "keeps a command line under a name", "f6": "makes it the default"},
        typed=lambda text: Row(text, f"Start: {text}", "", "Command line") if " " in text or "/" in text else None,
        chosen=default if default is not None else "",
    )


def _session(info: SessionInfo) -> Row:
    when = (info.updated_at or "")[:16].replace("T", " ")
    return Row(f"{_SESSION}{info.id}", info.title or "without a title", when, "Go on with, of the built-in agent")


def registry_rows(source: str | None) -> list[Row]:
    """The agents of the registry, if one is configured and can be read. Reads files: call it in a thread."""
    if source is None:
        return []
    from accord.config.install import is_installed
    from accord.config.registry import read_registry
    from accord.errors import AccordError

    try:
        entries = read_registry(source).entries
    except (AccordError, OSError) as error:
        return [Row("", f"the registry cannot be read: {one_line(str(error))}", "", "Registry")]
    rows = []
    for entry in entries.values():
        ready = "" if is_installed(entry) else "(is installed first) "
        rows.append(Row(entry.id, entry.name, f"{entry.version}  {ready}{entry.description}", "Registry"))
    return rows

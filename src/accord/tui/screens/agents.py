"""The start page: the agents that are configured, those of the registry, the built-in one, and any command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.plain import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.config.settings import Loaded

DEFAULT = ""
"""The id of the row that stands for the default agent."""


def agents_screen(loaded: Loaded, registry: list[Row]) -> Picker:
    """Everything that can be talked to. What is typed and is no row is taken as a command line."""
    settings = loaded.settings
    rows = [Row(DEFAULT, f"Default: {settings.chosen_agent or 'built-in agent'}")]
    for name, entry in settings.agents.items():
        command = entry.command if isinstance(entry.command, str) else " ".join(entry.command)
        rows.append(Row(name, name, entry.description or one_line(command, 120), "configured"))
    rows += [row for row in registry if row.id not in settings.agents]
    return Picker(
        "Talk with",
        rows,
        about="Choose an agent, or type a command line that starts one.",
        keys={"f3": "doctor", "f5": "keeps it under a name"},
        typed=lambda text: Row(text, f"Start: {text}", "", "command line") if " " in text or "/" in text else None,
    )


def registry_rows(source: str | None) -> list[Row]:
    """The agents of the registry, if one is configured and can be read. Reads files: call it in a thread."""
    if source is None:
        return []
    from accord.config.registry import read_registry
    from accord.errors import AccordError

    try:
        entries = read_registry(source).entries
    except (AccordError, OSError) as error:
        return [Row("", f"the registry cannot be read: {one_line(str(error))}", "", "registry")]
    return [
        Row(entry.id, entry.name, f"{entry.version}  {entry.description}", "registry") for entry in entries.values()
    ]

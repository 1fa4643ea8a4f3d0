"""Sessions shared by several clients: an event log with cursors, permission policies and budgets.

Public names are imported on first use: to read the tokens of a server, `accord.hub.principal` alone is enough."""

from __future__ import annotations

TYPE_CHECKING = False  # as in `accord/__init__.py`
if TYPE_CHECKING:
    from typing import Any

    from accord.hub.budgets import Budget as Budget
    from accord.hub.budgets import Budgets as Budgets
    from accord.hub.event_log import EventLog as EventLog
    from accord.hub.event_log import MemoryEventLog as MemoryEventLog
    from accord.hub.hub import Hub as Hub
    from accord.hub.principal import Principal as Principal
    from accord.hub.spawner import CommandSpawner as CommandSpawner
    from accord.hub.spawner import Spawner as Spawner
    from accord.hub.sqlite_log import SqliteEventLog as SqliteEventLog

_MODULES = {
    "Budget": "budgets",
    "Budgets": "budgets",
    "CommandSpawner": "spawner",
    "EventLog": "event_log",
    "Hub": "hub",
    "MemoryEventLog": "event_log",
    "Principal": "principal",
    "Spawner": "spawner",
    "SqliteEventLog": "sqlite_log",
}

__all__ = [
    "Budget",
    "Budgets",
    "CommandSpawner",
    "EventLog",
    "Hub",
    "MemoryEventLog",
    "Principal",
    "Spawner",
    "SqliteEventLog",
]

if not TYPE_CHECKING:  # else every misspelled name would pass

    def __getattr__(name: str) -> Any:
        module = _MODULES.get(name)
        if module is None:
            raise AttributeError(f"module 'accord.hub' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"accord.hub.{module}"), name)
        globals()[name] = value
        return value

"""Zed: `agent_servers` in its settings, which are JSON with comments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accord.config.editors.editor import Editor, JsonSettings, Launch
from accord.config.editors.machine import Machine


def _folder(machine: Machine) -> Path:
    # On macOS too it is not where desktop programs keep theirs.
    return machine.app_settings / "Zed" if machine.platform == "win32" else machine.dot_config / "zed"


def _entry(launch: Launch) -> dict[str, Any]:
    return {"type": "custom", "command": launch.command, "args": launch.args, "env": {}}


ZED = Editor(
    name="zed",
    title="Zed",
    where="the settings (zed: open settings file)",
    programs=("zed", "zeditor", "zedit"),
    traces=lambda machine: [_folder(machine), *machine.application("Zed")],
    json=JsonSettings(file=lambda machine: _folder(machine) / "settings.json", key="agent_servers", entry=_entry),
)

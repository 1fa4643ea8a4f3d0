"""VS Code with the extension ACP Client. Other extensions have other keys; what they want to know is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from accord.config.editors.editor import Editor, JsonSettings, Launch
from accord.config.editors.machine import Machine


def _folder(machine: Machine) -> Path:
    return machine.app_settings / "Code" / "User"


def _entry(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": launch.args, "env": {}}


VSCODE = Editor(
    name="vscode",
    title="VS Code",
    where="the user settings (JSON), for the extension ACP Client; others have a key of their own for the same entry",
    programs=("code",),
    traces=lambda machine: [_folder(machine), *machine.application("Visual Studio Code")],
    json=JsonSettings(file=lambda machine: _folder(machine) / "settings.json", key="acp.agents", entry=_entry),
)

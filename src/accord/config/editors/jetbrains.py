"""The JetBrains IDEs: one file for all of them. They look for commands by their full path."""

from __future__ import annotations

from typing import Any

from accord.config.editors.editor import Editor, JsonSettings, Launch


def _entry(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": launch.args, "env": {}}


JETBRAINS = Editor(
    name="jetbrains",
    title="JetBrains IDEs",
    where="the file that Add Custom Agent in the AI chat opens",
    programs=("idea", "pycharm", "goland", "webstorm", "clion", "phpstorm", "rubymine", "rider", "rustrover"),
    traces=lambda machine: [machine.home / ".jetbrains", machine.app_settings / "JetBrains"],
    json=JsonSettings(
        file=lambda machine: machine.home / ".jetbrains" / "acp.json",
        key="agent_servers",
        entry=_entry,
        new={"default_mcp_settings": {}},
    ),
    full_path=True,
)

"""The editors we know, by name."""

from __future__ import annotations

from accord.config.editors.agent_shell import AGENT_SHELL
from accord.config.editors.avante import AVANTE
from accord.config.editors.codecompanion import CODECOMPANION
from accord.config.editors.editor import Editor
from accord.config.editors.jetbrains import JETBRAINS
from accord.config.editors.marimo import MARIMO
from accord.config.editors.vscode import VSCODE
from accord.config.editors.zed import ZED

EDITORS: dict[str, Editor] = {
    editor.name: editor for editor in (ZED, JETBRAINS, VSCODE, CODECOMPANION, AVANTE, AGENT_SHELL, MARIMO)
}

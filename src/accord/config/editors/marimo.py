"""marimo: starts nothing itself, but reaches an agent that listens on a WebSocket."""

from __future__ import annotations

from accord.config.editors.editor import Editor

MARIMO = Editor(
    name="marimo",
    title="marimo",
    where="",
    programs=("marimo",),
    traces=lambda machine: [machine.dot_config / "marimo", machine.home / ".marimo.toml"],
    lacks="marimo starts no agents: it connects to one that listens on a WebSocket. That is for `accord serve`, "
    "which this version does not have yet",
)

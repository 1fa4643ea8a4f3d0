"""Neovim with avante: agents are providers."""

from __future__ import annotations

from accord.config.editors.editor import Editor, Launch
from accord.config.editors.quoting import lua, lua_key, lua_list


def _text(launch: Launch) -> str:
    return f"""\
require("avante").setup({{
  provider = {lua(launch.id)},
  acp_providers = {{
    {lua_key(launch.id)} = {{
      command = {lua(launch.command)},
      args = {lua_list(launch.args)},
      env = {{}},
    }},
  }},
}})
"""


AVANTE = Editor(
    name="avante",
    title="Neovim, avante",
    where="your Neovim configuration, in the one call of setup (or the opts) that is there already",
    programs=(),
    traces=lambda machine: machine.nvim_plugin("avante.nvim"),
    text=_text,
)

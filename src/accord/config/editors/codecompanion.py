"""Neovim with CodeCompanion: an adapter is made from one that it knows, with another command."""

from __future__ import annotations

from accord.config.editors.editor import Editor, Launch
from accord.config.editors.quoting import lua, lua_key, lua_list


def _text(launch: Launch) -> str:
    return f"""\
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      {lua_key(launch.id)} = function()
        return require("codecompanion.adapters").extend("gemini_cli", {{
          name = {lua(launch.id)},
          formatted_name = {lua(launch.name)},
          commands = {{ default = {lua_list([launch.command, *launch.args])} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = {lua(launch.id)} }} }},
}})
"""


CODECOMPANION = Editor(
    name="codecompanion",
    title="Neovim, CodeCompanion",
    where="your Neovim configuration, in the one call of setup that is there already",
    programs=(),
    traces=lambda machine: machine.nvim_plugin("codecompanion.nvim"),
    text=_text,
)

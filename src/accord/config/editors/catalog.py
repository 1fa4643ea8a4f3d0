"""The supported editors, one row each: how to detect one on this machine, and how to configure an agent in it.

An editor with JSON settings has a `JsonSettings`, which `settings_file` can write. The settings of the others are code
or a command, which is printed for the user to paste."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from accord.config.editors.editor import Editor, JsonSettings, Launch, Machine
from accord.config.editors.launch import this_accord

# -- Strings in Lua and Emacs Lisp

_LUA_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LUA_KEYWORD = re.compile(
    "and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|until|while"
)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def lua(text: str) -> str:
    """Quote a string for Lua."""
    # Always three digits: otherwise a digit that follows would be read as part of the number.
    return '"' + "".join(_ESCAPES.get(c, f"\\{ord(c):03d}" if _is_control(c) else c) for c in text) + '"'


def lua_list(words: list[str]) -> str:
    return "{ " + ", ".join(map(lua, words)) + " }" if words else "{}"


def lua_key(name: str) -> str:
    """Quote a table key: bare if Lua allows it, otherwise in brackets."""
    return name if _LUA_NAME.fullmatch(name) and not _LUA_KEYWORD.fullmatch(name) else f"[{lua(name)}]"


def elisp(text: str) -> str:
    """Quote a string for Emacs Lisp."""
    return '"' + "".join(_ESCAPES.get(c, f"\\{ord(c):03o}" if _is_control(c) else c) for c in text) + '"'


def elisp_list(words: list[str]) -> str:
    return "'(" + " ".join(map(elisp, words)) + ")" if words else "nil"


def _is_control(letter: str) -> bool:
    return ord(letter) < 32 or ord(letter) == 127


# -- Entries of JSON settings


def _command_entry(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": launch.args, "env": {}}


def _zed_entry(launch: Launch) -> dict[str, Any]:
    return {"type": "custom", **_command_entry(launch)}


def _acpx_entry(launch: Launch) -> dict[str, Any]:
    return {"command": shlex.join([launch.command, *launch.args])}


def _zed_directory(machine: Machine) -> Path:
    # Zed uses ~/.config on macOS too.
    return machine.app_settings / "Zed" if machine.platform == "win32" else machine.dot_config / "zed"


def _vscode_directory(machine: Machine) -> Path:
    return machine.app_settings / "Code" / "User"


# -- Text to paste


def _codecompanion_text(launch: Launch) -> str:
    """Write a complete adapter. One that extends a built-in adapter would inherit its login method and key variables,
    which can't be removed: `extend` merges."""
    return f"""\
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      {lua_key(launch.id)} = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {{
          name = {lua(launch.id)},
          formatted_name = {lua(launch.name)},
          type = "acp",
          roles = {{ llm = "assistant", user = "user" }},
          opts = {{ vision = true }},
          commands = {{ default = {lua_list([launch.command, *launch.args])} }},
          defaults = {{ mcpServers = {{}}, timeout = 20000 }},
          parameters = {{
            protocolVersion = 1,
            clientCapabilities = {{ fs = {{ readTextFile = true, writeTextFile = true }} }},
            clientInfo = {{ name = "CodeCompanion.nvim", version = "1.0.0" }},
          }},
          handlers = {{
            setup = function(self) return true end,
            form_messages = function(self, messages, capabilities)
              return helpers.form_messages(self, messages, capabilities)
            end,
            on_exit = function(self, code) end,
          }},
        }}
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = {lua(launch.id)} }} }},
}})
"""


def _avante_text(launch: Launch) -> str:
    """Write a provider. Providers inherit only PATH unless `env` is set."""
    return f"""\
require("avante").setup({{
  provider = {lua(launch.id)},
  acp_providers = {{
    {lua_key(launch.id)} = {{
      command = {lua(launch.command)},
      args = {lua_list(launch.args)},
      env = vim.fn.environ(),
    }},
  }},
}})
"""


def _agentic_text(launch: Launch) -> str:
    return f"""\
require("agentic").setup({{
  provider = {lua(launch.id)},
  acp_providers = {{
    {lua_key(launch.id)} = {{
      name = {lua(launch.name)},
      command = {lua(launch.command)},
      args = {lua_list(launch.args)},
    }},
  }},
}})
"""


def _agent_shell_text(launch: Launch) -> str:
    prompt = f"{launch.name}> "
    # Emacs itself quotes the name for the regular expression.
    return f"""\
(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier '{launch.id}
    :mode-line-name {elisp(launch.name)}
    :buffer-name {elisp(launch.name)}
    :shell-prompt {elisp(prompt)}
    :shell-prompt-regexp (regexp-quote {elisp(prompt)})
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command {elisp(launch.command)}
                     :command-params {elisp_list(launch.args)}
                     :context-buffer buffer)))))
"""


def _agent_shell_traces(machine: Machine) -> list[Path]:
    return [
        path
        for directory in (machine.home / ".emacs.d", machine.dot_config / "emacs")
        for path in (
            *machine.find(directory, "elpa", "agent-shell-[0-9]*"),
            *machine.find(directory, "straight", "repos", "agent-shell"),
            *machine.find(directory, "elpaca", "*", "agent-shell"),
        )
    ]


def _toad_text(launch: Launch) -> str:
    return f"toad acp {shlex.quote(shlex.join([launch.command, *launch.args]))} .\n"


MARIMO_PORT = 3017
"""The port on which marimo expects Claude. marimo doesn't start agents; each one that it supports has its own port."""
MARIMO_ORIGINS = ("http://localhost:2718", "http://127.0.0.1:2718")
"""Where marimo serves its page. The user may open either."""


def _marimo_text(launch: Launch) -> str:
    trust = [word for origin in MARIMO_ORIGINS for word in ("--trust-origin", origin)]
    options = ["--port", str(MARIMO_PORT), "--alias", "/message", *trust]
    return shlex.join([*this_accord(), "serve", *options, "--", launch.command, *launch.args]) + "\n"


# -- The table

_ROWS = (
    Editor(
        name="zed",
        title="Zed",
        where="the settings (zed: open settings file)",
        programs=("zed", "zeditor", "zedit"),
        traces=lambda machine: [_zed_directory(machine), *machine.application("Zed")],
        json=JsonSettings(
            file=lambda machine: _zed_directory(machine) / "settings.json", key="agent_servers", entry=_zed_entry
        ),
    ),
    Editor(
        name="jetbrains",
        title="JetBrains IDEs",
        where="the file that Add Custom Agent in the AI chat opens",
        programs=("idea", "pycharm", "goland", "webstorm", "clion", "phpstorm", "rubymine", "rider", "rustrover"),
        traces=lambda machine: [machine.home / ".jetbrains", machine.app_settings / "JetBrains"],
        json=JsonSettings(
            file=lambda machine: machine.home / ".jetbrains" / "acp.json",
            key="agent_servers",
            entry=_command_entry,
            new={"default_mcp_settings": {}},
        ),
        full_path=True,
    ),
    Editor(
        name="vscode",
        title="VS Code",
        where="the user settings (JSON), for the ACP Client extension; other extensions use another key for this entry",
        programs=("code",),
        traces=lambda machine: [_vscode_directory(machine), *machine.application("Visual Studio Code")],
        json=JsonSettings(
            file=lambda machine: _vscode_directory(machine) / "settings.json", key="acp.agents", entry=_command_entry
        ),
    ),
    Editor(
        name="codecompanion",
        title="Neovim, CodeCompanion",
        where="your Neovim configuration, in your existing call of setup",
        programs=(),
        traces=lambda machine: machine.nvim_plugin("codecompanion.nvim"),
        text=_codecompanion_text,
        aliases=("neovim", "nvim"),
    ),
    Editor(
        name="avante",
        title="Neovim, avante",
        where="your Neovim configuration, in your existing call of setup (or the plugin's opts)",
        programs=(),
        traces=lambda machine: machine.nvim_plugin("avante.nvim"),
        text=_avante_text,
        aliases=("neovim", "nvim"),
    ),
    Editor(
        name="agentic.nvim",
        title="Neovim, agentic.nvim",
        where="your Neovim configuration, in your existing call of setup (or the plugin's opts)",
        programs=(),
        traces=lambda machine: machine.nvim_plugin("agentic.nvim"),
        text=_agentic_text,
        aliases=("agentic", "neovim", "nvim"),
    ),
    Editor(
        name="agent-shell",
        title="Emacs, agent-shell",
        where="your init file",
        programs=(),
        traces=_agent_shell_traces,
        text=_agent_shell_text,
        aliases=("emacs",),
    ),
    Editor(
        name="toad",
        title="Toad",
        where="a shell in the project's directory",
        programs=("toad",),
        traces=lambda machine: [],
        text=_toad_text,
    ),
    Editor(
        name="acpx",
        title="acpx",
        where="its configuration",
        programs=("acpx",),
        traces=lambda machine: [machine.home / ".acpx"],
        json=JsonSettings(
            file=lambda machine: machine.home / ".acpx" / "config.json", key="agents", entry=_acpx_entry, by_id=True
        ),
    ),
    Editor(
        name="marimo",
        title="marimo",
        where="a shell in the notebook's directory, then choose Claude in marimo's agent panel: it uses that port",
        programs=("marimo",),
        traces=lambda machine: [machine.dot_config / "marimo", machine.home / ".marimo.toml"],
        text=_marimo_text,
    ),
)
EDITORS: dict[str, Editor] = {editor.name: editor for editor in _ROWS}


def find_editors(name: str) -> list[Editor]:
    """Find editors by name: the one with that name, or all that share the alias."""
    if name in EDITORS:
        return [EDITORS[name]]
    return [editor for editor in EDITORS.values() if name in editor.aliases]

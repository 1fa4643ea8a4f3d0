"""Write the configuration reference: the keys of config.toml from their types, and every environment variable."""

from __future__ import annotations

import ast
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import griffe
import msgspec

from accord.coder.models.catalog import LOCAL_CONTEXT
from accord.config import settings

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Variable(NamedTuple):
    """An environment variable that Accord reads."""

    default: str
    meaning: str


VARIABLES = {
    "ACCORD_CONFIG": Variable("`config.toml` in the configuration directory", "The configuration file."),
    "ACCORD_CONFIG_HOME": Variable("`~/.config/accord`", "The configuration directory."),
    "ACCORD_DATA_HOME": Variable(
        "`~/.local/share/accord`", "Sessions, remembered rules, drafts, saved tokens and keys."
    ),
    "ACCORD_CACHE_HOME": Variable("`~/.cache/accord`", "Files that can be downloaded again, such as installed agents."),
    "ACCORD_AGENT": Variable("`default_agent` of the configuration", "The default agent."),
    "ACCORD_MODEL": Variable("`model` of `[coder]`", "The model of the built-in agent's new sessions."),
    "ACCORD_MODELS_URL": Variable("models.dev", "The address that `accord agent models --refresh` downloads from."),
    "ACCORD_LOCAL_CONTEXT": Variable(f"{LOCAL_CONTEXT}", "The context window of `local:` models, in tokens."),
    "ACCORD_TOKEN": Variable("a saved token", "The token for remote agents."),
    "ACCORD_ALLOW_PRIVATE_URLS": Variable("not set", "`1` lets the built-in agent fetch pages from private addresses."),
    "ACCORD_SCREEN_READER": Variable("not set", "`1` turns on the terminal client's screen reader mode."),
    "ACCORD_DEBUG": Variable("not set", "`1` adds tracebacks to errors."),
}
INTERNAL = {
    "ACCORD_CHILD": "marks the processes that Accord starts, so that it can end them",
    "ACCORD_MCP_BRIDGE": "the address of an MCP bridge, for the program that uses it",
    "ACCORD_ORIGINAL_": "prefix of variables that hold original values while Accord runs its own Python",
    "ACCORD_COMPLETE": "set by the completion scripts, with an underscore in front",
}
OTHERS = {
    "NO_COLOR": "Turns colors off.",
    "VISUAL`, `EDITOR": "The editor that the terminal client opens.",
    "HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY": "HTTP proxies for remote agents.",
    "XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_CACHE_HOME": "Where Accord's directories are on Linux.",
}
READ = re.compile(r"ACCORD_[A-Z_]+")

ABOUT = """# Configuration and environment variables

Accord reads `config.toml` in its configuration directory, then `accord.toml` in the project, then environment
variables. A project's `accord.toml` can only add `ask` and `deny` rules until you
[trust the directory](commands.md#accord-trust). All keys are optional. An invalid file is an error that names the line
and what was expected. [The command line](../cli.md#configuration) has an example.
"""
DIRECTORIES = """
Defaults of directories are those of Linux. On macOS they are below `~/Library`, on Windows below `%APPDATA%` and
`%LOCALAPPDATA%`. [Models](../models.md#keys) lists the variables with the keys and URLs of model providers.
"""
TABLES = (
    ("Top level", "Keys before the first table.", settings.Settings),
    ("`[agents.NAME]`", "An agent that you can start by its name.", settings.AgentEntry),
    ("`[mcp_servers.NAME]`", "An MCP server that every session gets: a command or a URL.", settings.ServerEntry),
    ("`[coder]`", "The built-in coding agent.", settings.CoderSettings),
    ("`[coder.providers.NAME]`", "A model provider. [Models](../models.md) explains them.", settings.ProviderEntry),
)
DEADLINES = """## `[deadlines]`

How long to wait for an agent, in seconds; 0 means no limit. [Deadlines](../clients.md#deadlines) lists what each
one waits for.

| key | default |
|---|---|
"""
PERMISSIONS = """## `[permissions]`

Lists of rules, such as `"write:src/**"` or `"command:git log *"`. [Permissions](../policy.md) explains them.

| key | meaning |
|---|---|
| `allow` | Actions to allow without asking. |
| `ask` | Actions to ask about, even if another rule allows them. |
| `deny` | Actions to refuse. These rules always win. |
"""


def page() -> str:
    return "\n".join([ABOUT, *configuration(), *environment()])


def configuration() -> Iterator[str]:
    module = griffe.visit("settings", Path(settings.__file__), Path(settings.__file__).read_text(encoding="utf-8"))
    for title, about, struct in TABLES:
        yield f"## {title}\n\n{about}\n\n| key | type | default | meaning |\n|---|---|---|---|"
        for field in msgspec.structs.fields(struct):
            documented = module[f"{struct.__name__}.{field.name}"].docstring
            meaning = " ".join(documented.value.split()) if documented else ""
            if is_table(field.type):
                continue
            yield f"| `{field.encode_name}` | {name_type(field.type)} | {name_default(field)} | {meaning} |"
        yield ""
    yield PERMISSIONS
    from accord.client.connect import DEADLINES as defaults

    rows = [
        f"| `{quote(name)}` | {'none' if seconds is None else f'{seconds:g}'} |" for name, seconds in defaults.items()
    ]
    yield DEADLINES + "\n".join(rows) + "\n"


def quote(key: str) -> str:
    return f'"{key}"' if " " in key else key


def is_table(kind: Any) -> bool:
    """Return whether a field is a table that has its own section."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return True
    arguments = typing.get_args(kind)
    return typing.get_origin(kind) is dict and arguments[1] is not str


def name_type(kind: Any) -> str:
    """Name a type as TOML calls it."""
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return name_type(typing.get_args(kind)[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(name_type(each) for each in typing.get_args(kind) if each is not type(None))
    if origin is typing.Literal:
        return ", ".join(f"`{each}`" for each in typing.get_args(kind))
    if origin is list:
        return "list of strings"
    if origin is dict:
        return "table of strings"
    return {str: "string", int: "integer", float: "number", bool: "true or false"}[kind]


def name_default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    return f"`{field.default}`" if isinstance(field.default, str) else ""


def environment() -> Iterator[str]:
    yield "## Environment variables\n\n| variable | default | meaning |\n|---|---|---|"
    for name, variable in sorted(VARIABLES.items()):
        yield f"| `{name}` | {variable.default} | {variable.meaning} |"
    yield DIRECTORIES
    yield "Accord also follows these common variables:\n\n| variable | meaning |\n|---|---|"
    for name, meaning in OTHERS.items():
        yield f"| `{name}` | {meaning} |"
    yield "\nAccord sets these for its own processes. Don't set them yourself:\n\n| variable | meaning |\n|---|---|"
    for name, meaning in INTERNAL.items():
        yield f"| `{name}{'*' if name.endswith('_') else ''}` | {meaning} |"
    yield ""


def variables_read() -> set[str]:
    """Find the `ACCORD_…` variables that the code names, outside of docstrings and messages."""
    names: set[str] = set()
    for path in (SOURCE / "accord").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and READ.fullmatch(text.removeprefix("_")):
                names.add(text.removeprefix("_"))
    return names

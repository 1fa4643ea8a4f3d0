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
    "ACCORD_GITHUB_CLIENT_ID": Variable("not set", "The client id of your OAuth app, for the login at GitHub Copilot."),
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
WITH_OWN_SECTION = ("permissions", "deadlines")
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
    yield from describe_table(settings.Settings, "")
    yield PERMISSIONS
    from accord.client.connect import DEADLINES as defaults

    rows = [
        f"| `{quote(name)}` | {'none' if seconds is None else f'{seconds:g}'} |" for name, seconds in defaults.items()
    ]
    yield DEADLINES + "\n".join(rows) + "\n"


def describe_table(struct: type[msgspec.Struct], path: str) -> Iterator[str]:
    """Yield the keys of a table, and then the tables in it."""
    module = griffe.visit("settings", Path(settings.__file__), Path(settings.__file__).read_text(encoding="utf-8"))
    about = module[struct.__name__].docstring if path else None
    title = f"`[{path}]`" if path else "Top level"
    yield f"## {title}\n\n{about.value if about else 'Keys before the first table.'}\n"
    yield "| key | type | default | meaning |\n|---|---|---|---|"
    inner = []
    for field in msgspec.structs.fields(struct):
        place = f"{path}.{field.encode_name}" if path else field.encode_name
        if table := find_table(field.type):
            inner.append((table, place + (".NAME" if typing.get_origin(field.type) is dict else "")))
        elif place not in WITH_OWN_SECTION:
            documented = module[f"{struct.__name__}.{field.name}"].docstring
            meaning = " ".join(documented.value.split()) if documented else ""
            yield f"| `{field.encode_name}` | {name_type(field.type)} | {name_default(field)} | {meaning} |"
    yield ""
    for table, place in inner:
        yield from describe_table(table, place)


def quote(key: str) -> str:
    return f'"{key}"' if " " in key else key


def find_table(kind: Any) -> type[msgspec.Struct] | None:
    """Return the type of a table, if a field is one, or a table of tables."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inside = typing.get_args(kind) if typing.get_origin(kind) in (dict, typing.Union, types.UnionType) else ()
    return next((table for each in inside if (table := find_table(each))), None)


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
    return {str: "string", int: "integer", float: "number", bool: "true or false"}.get(kind, str(kind))


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

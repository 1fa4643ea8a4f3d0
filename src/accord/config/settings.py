"""Read, check and merge the settings of the user and the project.

The user's `config.toml` is read first, then the project's `accord.toml`, then the environment. Until the user trusts
the project's directory, its file can only restrict: its agents, servers and default agent are ignored, with a note."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from accord.config.budget import parse_budget
from accord.config.directories import config_directory
from accord.errors import ConfigError

USER_FILE = "config.toml"
PROJECT_FILE = "accord.toml"
MAX_BYTES = 500_000
MAX_DOTS = 500
"""The most dots in a line: the time for a key is quadratic in them, and a project's file is untrusted."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""Valid names of agents, which can't be mistaken for command lines."""
WAITS = ("first byte", "initialize", "session", "call", "cancel", "login", "extension")
"""The waits that can have a deadline."""


Effort = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
Retention = Literal["5m", "1h"]


class AgentEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The command and environment of an agent."""

    command: str | list[str]
    """The command line: a string, or a list of arguments."""
    env: dict[str, str] = {}
    """Variables that are added to its environment."""
    environment: Literal["inherit", "minimal", "login-shell"] = "inherit"
    """The source of its environment: ours, a minimal one, or that of the user's login shell."""
    registry: str | None = None
    """The registry entry it was installed from; `version` is pinned."""
    version: str | None = None
    """The installed version, if it comes from a registry."""
    description: str | None = None
    """A description for lists."""


class ServerEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An MCP server for every session: a command, or a URL."""

    command: str | None = None
    """The program to start."""
    args: list[str] = []
    """Its arguments."""
    env: dict[str, str] = {}
    """Variables that are added to its environment."""
    url: str | None = None
    """The server's URL, instead of a command."""
    type: Literal["stdio", "http", "sse"] | None = None
    """The transport; by default `stdio` for a command and `http` for a URL."""
    headers: dict[str, str] = {}
    """Headers that are sent with every request to the URL."""


class ProviderEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A provider of models: settings for a known one, or an additional one, which needs a `base_url`."""

    base_url: str | None = None
    """The URL of its API."""
    api: Literal["chat", "responses", "anthropic", "google", "openrouter"] | None = None
    """Its API; the default is OpenAI's Chat Completions."""
    api_key_env: str | None = None
    """The environment variable that holds its key."""
    models: list[str] = []
    """Models to offer besides the known ones."""
    headers: dict[str, str] = {}
    """Headers that are sent with every request."""
    context: int | None = None
    """The context window of its models in tokens, if unknown."""
    images: bool | None = None
    """Whether its models accept images, if unknown."""


SandboxMode = Literal["auto", "on", "off"]


class SandboxEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The sandbox for commands of the coding agent."""

    mode: SandboxMode = "auto"
    """`auto` and `on` use a sandbox where it works: in code mode, or (`on`) in every mode."""
    network: bool = False
    """Whether commands in the sandbox may use the network."""
    writable: list[str] = []
    """Directories that commands may write to, besides the session's."""


class WebSearchEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The search engine of the coding agent."""

    engine: Literal["duckduckgo", "tavily", "exa", "brave", "searxng"]
    """The search engine."""
    base_url: str | None = None
    """Its URL, which SearXNG needs. It may be a private address."""
    api_key_env: str | None = None
    """The environment variable that holds its key."""


class CoderSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of the built-in coding agent."""

    model: str | None = None
    """The model of new sessions, as `provider:name`."""
    effort: Effort | None = None
    """How much the model thinks; the default depends on the model."""
    cache: Retention | None = None
    """How long providers cache tools and instructions; 5 minutes by default."""
    compact_at: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The size of a request, in tokens, at which the conversation is compacted."""
    max_steps: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The most requests to the model in one turn."""
    max_cost: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """The most that one turn may cost, in US dollars."""
    fallback_model: str | None = None
    """The model that continues a turn whose provider stays unavailable."""
    small_model: str | None = None
    """A cheap model that writes the titles of sessions."""
    explore_model: str | None = None
    """The model of sub-agents; that of the session by default."""
    web_search: WebSearchEntry | None = None
    """The search engine; without one, there is no web search."""
    providers: dict[str, ProviderEntry] = {}
    sandbox: SandboxMode | SandboxEntry | None = None
    """The sandbox of commands: its mode alone, or a table."""
    pass_environment: list[str] = []
    """Variables that commands get although their names look like a secret's, such as `GITHUB_TOKEN`."""
    check: dict[str, str] = {}
    """Commands that check an edited file, by a glob for its path: `{"*.py": "ruff check {file}"}`."""

    def override(self, other: CoderSettings) -> CoderSettings:
        """Return these settings, overridden by another's."""
        return CoderSettings(
            model=other.model or self.model,
            effort=other.effort or self.effort,
            cache=other.cache or self.cache,
            compact_at=other.compact_at or self.compact_at,
            max_steps=other.max_steps or self.max_steps,
            max_cost=other.max_cost or self.max_cost,
            fallback_model=other.fallback_model or self.fallback_model,
            small_model=other.small_model or self.small_model,
            explore_model=other.explore_model or self.explore_model,
            web_search=other.web_search or self.web_search,
            providers={**self.providers, **other.providers},
            sandbox=other.sandbox or self.sandbox,
            pass_environment=[*self.pass_environment, *other.pass_environment],
            check={**self.check, **other.check},
        )

    @property
    def sandbox_entry(self) -> SandboxEntry:
        """The settings of the sandbox."""
        match self.sandbox:
            case None:
                return SandboxEntry()
            case SandboxEntry():
                return self.sandbox
            case mode:
                return SandboxEntry(mode=mode)


class ProjectRegistry(str):
    """The registry of a trusted project: it adds agents, but never replaces well-known ones."""


class Settings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration."""

    default_agent: str | None = None
    """The agent to use if none is named; `built-in` is the one that comes with Accord."""
    registry: str | None = None
    """Path or URL of a registry whose agents can be used by id."""
    agents: dict[str, AgentEntry] = {}
    mcp_servers: dict[str, ServerEntry] = {}
    permissions: dict[str, Any] = {}
    """Rules, which the policy engine parses."""
    deadlines: dict[str, float] = {}
    """Deadlines in seconds, by the name of the wait; 0 means no deadline."""
    coder: CoderSettings = msgspec.field(default_factory=CoderSettings)
    budget: str | None = None
    """Limits for all agents together, such as `$2/turn, $20/day`."""
    budgets: dict[str, str] = {}
    """Limits for single agents, by name."""

    @property
    def chosen_agent(self) -> str | None:
        """The agent to use if none is named: the default one, or the only one."""
        if self.default_agent is None and len(self.agents) == 1:
            return next(iter(self.agents))
        return self.default_agent

    @property
    def waits(self) -> dict[str, float | None]:
        """The deadlines in the form that a connection expects."""
        return {name: seconds or None for name, seconds in self.deadlines.items()}


class Loaded(msgspec.Struct, kw_only=True):
    """Loaded settings: merged, with the rules of each source, and notes about ignored settings."""

    settings: Settings
    user_rules: dict[str, Any] = {}
    project_rules: dict[str, Any] = {}
    notes: list[str] = []
    files: list[Path] = []
    trusted: bool = False


def user_config() -> Path:
    """Return the path of the user's configuration file."""
    return Path(os.environ.get("ACCORD_CONFIG") or config_directory() / USER_FILE)


def has_project_file(project: Path) -> bool:
    """Return whether a directory has its own configuration, so that trust matters."""
    return os.path.isfile(project / PROJECT_FILE)


def load(project: Path | None = None, *, trusted: bool = False, user_file: Path | None = None) -> Loaded:
    """Read and merge the user's and the project's configuration."""
    path = user_file or user_config()
    loaded = Loaded(settings=Settings(), trusted=trusted)
    if _exists(path):
        loaded.settings = read(path)
        loaded.user_rules = loaded.settings.permissions
        loaded.files.append(path)
    elif os.environ.get("ACCORD_CONFIG") and user_file is None:
        loaded.notes.append(f"ACCORD_CONFIG names {path}, which doesn't exist")
    own = project / PROJECT_FILE if project is not None else None
    if own is not None and os.path.isfile(own) and own.resolve() != path.resolve():
        _add_project(loaded, read(own), own, trusted)
    if chosen := os.environ.get("ACCORD_AGENT"):
        loaded.settings.default_agent = chosen
    if model := os.environ.get("ACCORD_MODEL"):
        loaded.settings.coder.model = model
    return loaded


def _add_project(loaded: Loaded, project: Settings, path: Path, trusted: bool) -> None:
    loaded.files.append(path)
    loaded.project_rules = project.permissions
    widening = [
        name
        for name, value in (
            ("agents", project.agents),
            ("mcp_servers", project.mcp_servers),
            ("default_agent", project.default_agent),
            ("registry", project.registry),
            ("deadlines", project.deadlines),
            ("budget", project.budget),
            ("budgets", project.budgets),
            ("coder", project.coder != CoderSettings()),
        )
        if value
    ]
    if not trusted:
        if widening:
            loaded.notes.append(
                f"{path}: {', '.join(widening)} ignored until you trust this directory (accord trust {path.parent})"
            )
        return
    settings = loaded.settings
    from accord.config.well_known import find_well_known

    # A well-known name must not start another program in some repository.
    taken = sorted(name for name in project.agents if find_well_known(name) is not None)
    if taken:
        loaded.notes.append(f"{path}: {', '.join(taken)} ignored: a project can't redefine a well-known agent")
    settings.agents = {**settings.agents, **{name: each for name, each in project.agents.items() if name not in taken}}
    settings.mcp_servers = {**settings.mcp_servers, **project.mcp_servers}
    settings.default_agent = project.default_agent or settings.default_agent
    settings.registry = ProjectRegistry(project.registry) if project.registry else settings.registry
    settings.deadlines = {**settings.deadlines, **project.deadlines}
    settings.coder = settings.coder.override(project.coder)
    settings.budget = project.budget or settings.budget
    settings.budgets = {**settings.budgets, **project.budgets}


def read(path: Path) -> Settings:
    """Read one file, or raise `ConfigError` with the file, the line and what was expected."""
    return parse(_text(path), path)


def parse(text: str, path: Path) -> Settings:
    """Parse settings; `path` is for messages."""
    import tomllib

    from accord.config import problems

    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS:
            raise ConfigError(f"{path}: line {number}: more than {MAX_DOTS:,} dots")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {problems.describe_syntax_error(str(error))}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply; expected plain tables") from None

    def convert(value: Any, kind: Any, keys: list[str]) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            inner, expected = problems.translate(str(error), kind)
            raise ConfigError(f"{path}: {problems.locate(text, [*keys, *inner])}: {expected}") from None

    # Convert one at a time, because an error in a table of tables doesn't say in which of them it is.
    for group, kind in (("agents", AgentEntry), ("mcp_servers", ServerEntry), ("deadlines", float)):
        if isinstance(table.get(group), dict):
            table[group] = {name: convert(value, kind, [group, name]) for name, value in table[group].items()}
    if isinstance(coder := table.get("coder"), dict):
        if isinstance(named := coder.get("providers"), dict):
            place = ["coder", "providers"]
            coder["providers"] = {name: convert(value, ProviderEntry, [*place, name]) for name, value in named.items()}
        table["coder"] = convert(coder, CoderSettings, ["coder"])
    settings: Settings = convert(table, Settings, [])
    for keys, expected in find_problems(settings):
        raise ConfigError(f"{path}: {problems.locate(text, keys)}: {expected}")
    return settings


def _exists(path: Path) -> bool:
    try:
        os.stat(path)  # Path.exists() hides every OSError from Python 3.14 on
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # an unreachable file may hold deny rules, so it must not be ignored
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    return True


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_BYTES:,} bytes")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: line {line}: the file is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def find_problems(settings: Settings) -> Iterator[tuple[list[str], str]]:
    """Yield the problems that types can't express: the keys that lead to each, and what was expected."""
    for name, entry in settings.agents.items():
        if not NAME.fullmatch(name):
            yield ["agents", name], "an agent's name has letters, digits, - and _ only"
        problem = _check_command(entry.command)
        if problem:
            yield ["agents", name, "command"], problem
    for name in settings.coder.providers:
        if not NAME.fullmatch(name) or name in ("offline", "local"):
            expected = "a provider's name has letters, digits, - and _ only, and is not offline or local"
            yield ["coder", "providers", name], expected
    for keys, budget in [(["budget"], settings.budget), *((["budgets", n], b) for n, b in settings.budgets.items())]:
        try:
            parse_budget(budget) if budget is not None else None
        except ValueError as error:
            yield keys, str(error)
    for name, seconds in settings.deadlines.items():
        if name not in WAITS:
            yield ["deadlines", name], f"unknown wait; expected {', '.join(WAITS)}"
        elif not 0 <= seconds < math.inf:
            yield ["deadlines", name], f"found {seconds:g}; expected seconds"


def _check_command(command: str | list[str]) -> str:
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError as error:
        return f"found {command!r}; expected a command line ({str(error).lower()})"
    return "" if words and words[0].strip() else "empty; expected a command"

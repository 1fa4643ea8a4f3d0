"""Write the API reference: Markdown from the signatures and docstrings of the public names."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import griffe

SOURCE = Path(__file__).resolve().parents[2] / "src"


class Page(NamedTuple):
    """One page of the reference: objects by the path under which users import them."""

    title: str
    about: str
    names: dict[str, tuple[str, ...]]
    """The names by the module that exports them."""


PAGES = {
    "agents": Page(
        "Agents",
        "For authors of agents. [Writing an agent](../agents.md) is the guide.",
        {
            "accord": ("Agent", "command", "run", "asgi", "Turn", "AgentSession", "Tool", "Permission", "Client"),
            "accord.agent.turn": ("Prompt",),
            "accord.agent.workspace": ("Files", "Terminals", "Terminal", "DisplayTerminal"),
        },
    ),
    "clients": Page(
        "Clients",
        "For authors of clients. [Writing a client](../clients.md) is the guide.",
        {
            "accord": (
                *("connect", "ConnectedAgent", "Session", "Transcript", "allow_all", "reject_all", "Workspace"),
                *("LocalWorkspace", "Refused", "Policy", "Limits", "Transport", "OfferedServer"),
            ),
            "accord.client.turn": ("Turn",),
            "accord.client.workspace": ("TerminalCommand", "TerminalState"),
        },
    ),
    "events": Page(
        "Events",
        "The events that a client receives while a turn runs. A tool call, a plan, a usage report, a notice, a "
        "compaction and a subagent are events too: the [object itself](model.md), in its current state. "
        "[Events](../clients.md#events) "
        "explains their order.",
        {
            "accord": (
                *("Event", "Text", "Thought", "UserText", "Media", "MessageSet", "TerminalOutput", "TerminalChanged"),
                *("PlanRemoved", "OptionsChanged", "CommandsChanged", "InfoChanged", "StateChanged", "SubagentMessage"),
                *("PageDone", "ConnectionChanged", "Disconnected", "Resumed", "Unknown"),
            )
        },
    ),
    "model": Page(
        "Content, tool calls and options",
        "Records that agents send and clients receive, in the same form for both protocol versions.",
        {
            "accord": (
                *("TextContent", "Image", "Audio", "Resource", "ResourceLink", "Annotations", "Icon"),
                *("ToolCall", "ToolKind", "ToolStatus", "Diff", "Location", "Terminal", "ExitStatus"),
                *("PermissionRequest", "PermissionOption", "Elicitation", "Reply"),
                *("Plan", "PlanEntry", "Option", "Choice", "Mode", "Command", "Usage", "Tokens", "Notice", "Severity"),
                *("Compaction", "Subagent", "SessionInfo", "StopReason", "McpServer", "SystemPrompt"),
                *("Implementation", "AuthMethod", "AuthStatus", "Account", "Provider", "ProviderConfig"),
            )
        },
    ),
    "exceptions": Page(
        "Exceptions",
        "Every exception that Accord raises on purpose. [Errors](../errors.md) says what to do about each.",
        {
            "accord": (
                *("AccordError", "LaunchError", "ConfigError", "RuleError", "UsageError", "ConnectionClosed"),
                *("PeerDied", "DeadlineExceeded", "CapabilityError", "Overloaded", "RequestFailed", "AuthRequired"),
                *("NotFound", "MethodNotFound", "InvalidParams", "StoreFailed", "RequestCancelled", "ProtocolError"),
                *("VersionError", "RemoteProtocolError", "LocalProtocolError", "InvalidValue"),
            )
        },
    ),
    "stores": Page(
        "Session stores",
        "Where sessions outlive a process. [Sessions](../sessions.md) is the guide.",
        {"accord": ("SessionStore", "MemoryStore", "SqliteStore"), "accord.store.base": ("Page",)},
    ),
    "sync": Page(
        "accord.sync",
        "The client without `await`, for scripts and notebooks. See [Without await](../clients.md#without-await).",
        {"accord.sync": ("ask", "connect", "Agent", "Session")},
    ),
    "testing": Page(
        "accord.testing",
        "The test kit. [Testing agents and clients](../testing.md) is the guide.",
        {
            "accord.testing": (
                *("link", "AgentLink", "ScriptedAgent", "ScriptedClient", "Recorder", "Recording"),
                *("render_transcript", "TranscriptSnapshot", "wire_agent", "wire_client", "WirePeer"),
            ),
            "accord.testing.stores": ("StoreSuite",),
        },
    ),
    "proxy": Page(
        "accord.proxy",
        "Components between a client and an agent. [Proxies](../proxies.md) is the guide.",
        {
            "accord.proxy": (
                *("Proxy", "to_agent", "to_client", "Request", "Notification", "ProxyPeer", "Conductor"),
                *("chain", "run", "serve"),
            )
        },
    ),
    "hub": Page(
        "accord.hub",
        "Sessions shared by several clients. [The hub](../hub.md) is the guide.",
        {
            "accord.hub": (
                *("Hub", "Principal", "Spawner", "CommandSpawner", "EventLog", "MemoryEventLog", "SqliteEventLog"),
                *("Budgets", "Budget"),
            )
        },
    ),
}
LINKED = re.compile(r"(?<![`\[\w.])`([A-Z]\w+)(\(\))?`(?![`\]])")
SECTION = re.compile(r" +# -- ")


class Writer:
    """Writes the pages, with links between the names on them."""

    def __init__(self) -> None:
        self.package = griffe.load("accord", search_paths=[SOURCE], resolve_aliases=True)
        self.places: dict[str, str] = {}
        for slug, page in PAGES.items():
            for module, names in page.names.items():
                for name in names:
                    if module == "accord":
                        self.places[name] = f"{slug}.md#{name.lower()}"

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each page."""
        for slug, page in PAGES.items():
            yield f"{slug}.md", "\n\n".join(self.page(slug, page)) + "\n"

    def page(self, slug: str, page: Page) -> Iterator[str]:
        yield f"# {page.title}"
        yield page.about
        for module, names in page.names.items():
            for name in names:
                yield from self.object(slug, module, name)

    def object(self, slug: str, module: str, name: str) -> Iterator[str]:
        found = self.find(module, name)
        yield f"## {name if module == 'accord' or module == f'accord.{slug}' else f'{module}.{name}'}"
        yield f"`from {module} import {name}`"
        if isinstance(found, griffe.Function):
            yield fence(signature(found, name))
            yield self.prose(slug, found, name)
        elif isinstance(found, griffe.Class):
            yield from self.class_(slug, found, name)
        else:
            value = found.value if isinstance(found, griffe.Attribute) else None
            yield fence(f"{name} = {value}")
            yield self.prose(slug, found, name)

    def find(self, module: str, name: str) -> Any:
        parent = self.package[module.removeprefix("accord.")] if module != "accord" else self.package
        if (module, name) == ("accord", "AgentSession"):  # exported under another name
            parent, name = self.package["agent.session"], "Session"
        found = parent[name]
        return found.final_target if found.is_alias else found

    def class_(self, slug: str, found: griffe.Class, name: str) -> Iterator[str]:
        bases = [str(base) for base in found.bases if str(base) not in ("msgspec.Struct", "Record", "object")]
        bases = [base.rpartition(".")[2] for base in bases]
        yield fence(f"class {name}" + (f"({', '.join(bases)})" if bases else ""))
        yield self.prose(slug, found, name)
        members = public_members(found)
        constructor = found.members.get("__init__")
        if isinstance(constructor, griffe.Function) and is_documented(constructor):
            yield fence(signature(constructor, name))
            yield self.prose(slug, constructor, name)
        rows = [self.row(slug, member) for member in members if isinstance(member, griffe.Attribute)]
        if rows:
            yield "| attribute | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows)
        for member in members:
            if isinstance(member, griffe.Function):
                yield f"### {name}.{member.name}"
                yield fence(signature(member, member.name))
                if member.docstring:
                    yield self.prose(slug, member, name)

    def row(self, slug: str, member: griffe.Attribute) -> str:
        type_ = cell(code(str(member.annotation))) if member.annotation is not None else ""
        has_default = member.value is not None and "property" not in member.labels
        value = str(member.value)
        default = (
            cell(code(value)) if has_default and len(value) < 40 and "instance-attribute" not in member.labels else ""
        )
        meaning = " ".join(self.prose(slug, member, "").split()) if member.docstring else ""
        return f"| `{member.name}` | {type_} | {default} | {meaning.replace('|', chr(92) + '|')} |"

    def prose(self, slug: str, found: Any, own: str) -> str:
        """Return a docstring with its public names linked."""
        if not found.docstring:
            return ""

        def link(match: re.Match[str]) -> str:
            name = match[1]
            place = self.places.get(name)
            if place is None or name == own:
                return match[0]
            page, _, anchor = place.partition("#")
            return f"[{match[0]}]({'' if page == f'{slug}.md' else page}#{anchor})"

        return LINKED.sub(link, found.docstring.value)

    def find_undocumented(self) -> Iterator[str]:
        """Yield the public classes, functions and methods that have no docstring."""
        for page in PAGES.values():
            for module, names in page.names.items():
                for name in names:
                    found = self.find(module, name)
                    if not found.docstring:
                        yield f"{module}.{name}"
                    if isinstance(found, griffe.Class):
                        methods = (each for each in public_members(found) if isinstance(each, griffe.Function))
                        yield from (f"{module}.{name}.{each.name}" for each in methods if not each.docstring)


def public_members(found: griffe.Class) -> list[Any]:
    """Return the public members, those of base classes included, in the order of the source.

    A method that overrides a documented one, and has nothing to add, isn't listed: it is described at its base."""
    own = list(found.members.values())
    inherited = found.inherited_members
    members = []
    for member in [*own, *(member for name, member in inherited.items() if name not in found.members)]:
        target = member.final_target if member.is_alias else member
        if member.name.startswith(("_", "test_")) or not isinstance(target, (griffe.Function, griffe.Attribute)):
            continue
        foreign = not target.canonical_path.startswith("accord.")
        overrides = not target.docstring and any(member.name in base.members for base in found.mro())
        if not foreign and not overrides and not is_internal(target) and not is_guard(target):
            members.append(target)
    return members


@functools.cache
def internal_lines(path: Path) -> frozenset[int]:
    """Return the lines of the sections of classes that are for the library itself."""
    internal, lines = False, set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if SECTION.match(line) or line[:1].strip():
            internal = "for the library" in line
        if internal:
            lines.add(number)
    return frozenset(lines)


def is_internal(member: Any) -> bool:
    return member.lineno is not None and member.lineno in internal_lines(member.filepath)


def is_guard(member: Any) -> bool:
    """Return whether a method exists only to explain a mistake."""
    return isinstance(member, griffe.Function) and "NoReturn" in str(member.returns or "")


def is_documented(constructor: griffe.Function) -> bool:
    return len(constructor.parameters) > 1 and constructor.docstring is not None


def signature(function: griffe.Function, name: str) -> str:
    """Write a signature, over several lines if it is long."""
    words: list[str] = []
    kinds = griffe.ParameterKind
    starred = False
    parameters = [parameter for parameter in function.parameters if parameter.name not in ("self", "cls")]
    for parameter in parameters:
        if parameter.kind is kinds.keyword_only and not starred:
            words.append("*")
            starred = True
        prefix = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(parameter.kind, "")
        starred = starred or parameter.kind is kinds.var_positional
        word = prefix + parameter.name
        if parameter.annotation is not None:
            word += f": {parameter.annotation}"
        if parameter.default is not None and not prefix:
            word += f" = {parameter.default}" if parameter.annotation is not None else f"={parameter.default}"
        words.append(word)
    start = "async def " if "async" in function.labels else "def "
    end = f" -> {function.returns}" if function.returns is not None and name != "__init__" else ""
    if function.name == "__init__":
        start, end = "", ""
    line = f"{start}{name}({', '.join(words)}){end}"
    if len(line) <= 88:
        return line
    inner = "".join(f"    {word},\n" for word in words)
    return f"{start}{name}(\n{inner}){end}"


def fence(text: str) -> str:
    return f"```python\n{text}\n```"


def code(text: str) -> str:
    return f"`{text}`"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def list_exported() -> Iterable[str]:
    """Return the public names of `accord` that a page describes."""
    return [name for page in PAGES.values() for name in page.names.get("accord", ())]

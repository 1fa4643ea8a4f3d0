"""Accord: the Agent Client Protocol (ACP) for Python, for agents and clients, in versions 1 and 2.

Public names are imported on first use, so `import accord` is fast and loads only what a program needs."""

from __future__ import annotations

from accord.version import __version__ as __version__

TYPE_CHECKING = False  # as type checkers know it, without loading `typing`
if TYPE_CHECKING:
    from typing import Any

    from accord.agent import session as _agent_session
    from accord.agent.agent import Agent as Agent
    from accord.agent.agent import command as command
    from accord.agent.asgi import asgi as asgi
    from accord.agent.client import Client as Client
    from accord.agent.questions import Permission as Permission
    from accord.agent.run import run as run
    from accord.agent.tool import Tool as Tool
    from accord.agent.turn import Turn as Turn
    from accord.client.agent import ConnectedAgent as ConnectedAgent
    from accord.client.connect import connect as connect
    from accord.client.handlers import allow_all as allow_all
    from accord.client.handlers import reject_all as reject_all
    from accord.client.local_workspace import LocalWorkspace as LocalWorkspace
    from accord.client.local_workspace import Refused as Refused
    from accord.client.session import Session as Session
    from accord.client.workspace import Workspace as Workspace
    from accord.connection.limits import Limits as Limits
    from accord.errors import AccordError as AccordError
    from accord.errors import AuthRequired as AuthRequired
    from accord.errors import CapabilityError as CapabilityError
    from accord.errors import ConfigError as ConfigError
    from accord.errors import ConnectionClosed as ConnectionClosed
    from accord.errors import DeadlineExceeded as DeadlineExceeded
    from accord.errors import InvalidParams as InvalidParams
    from accord.errors import InvalidValue as InvalidValue
    from accord.errors import LaunchError as LaunchError
    from accord.errors import LocalProtocolError as LocalProtocolError
    from accord.errors import MethodNotFound as MethodNotFound
    from accord.errors import NotFound as NotFound
    from accord.errors import Overloaded as Overloaded
    from accord.errors import PeerDied as PeerDied
    from accord.errors import ProtocolError as ProtocolError
    from accord.errors import RemoteProtocolError as RemoteProtocolError
    from accord.errors import RequestCancelled as RequestCancelled
    from accord.errors import RequestFailed as RequestFailed
    from accord.errors import RuleError as RuleError
    from accord.errors import StoreFailed as StoreFailed
    from accord.errors import UsageError as UsageError
    from accord.errors import VersionError as VersionError
    from accord.mcp.offered_server import OfferedServer as OfferedServer
    from accord.model.account import Account as Account
    from accord.model.account import AuthStatus as AuthStatus
    from accord.model.account import Provider as Provider
    from accord.model.account import ProviderConfig as ProviderConfig
    from accord.model.content import Annotations as Annotations
    from accord.model.content import Audio as Audio
    from accord.model.content import Icon as Icon
    from accord.model.content import Image as Image
    from accord.model.content import Resource as Resource
    from accord.model.content import ResourceLink as ResourceLink
    from accord.model.content import TextContent as TextContent
    from accord.model.requests import AuthMethod as AuthMethod
    from accord.model.requests import Elicitation as Elicitation
    from accord.model.requests import Implementation as Implementation
    from accord.model.requests import McpServer as McpServer
    from accord.model.requests import PermissionOption as PermissionOption
    from accord.model.requests import PermissionRequest as PermissionRequest
    from accord.model.requests import Reply as Reply
    from accord.model.requests import SystemPrompt as SystemPrompt
    from accord.model.session import Choice as Choice
    from accord.model.session import Command as Command
    from accord.model.session import Compaction as Compaction
    from accord.model.session import Mode as Mode
    from accord.model.session import Notice as Notice
    from accord.model.session import Option as Option
    from accord.model.session import Plan as Plan
    from accord.model.session import PlanEntry as PlanEntry
    from accord.model.session import SessionInfo as SessionInfo
    from accord.model.session import Severity as Severity
    from accord.model.session import StopReason as StopReason
    from accord.model.session import Subagent as Subagent
    from accord.model.session import Tokens as Tokens
    from accord.model.session import Usage as Usage
    from accord.model.tool import Diff as Diff
    from accord.model.tool import ExitStatus as ExitStatus
    from accord.model.tool import Location as Location
    from accord.model.tool import Terminal as Terminal
    from accord.model.tool import ToolCall as ToolCall
    from accord.model.tool import ToolKind as ToolKind
    from accord.model.tool import ToolStatus as ToolStatus
    from accord.policy.engine import Policy as Policy
    from accord.store.base import SessionStore as SessionStore
    from accord.store.memory import MemoryStore as MemoryStore
    from accord.store.sqlite import SqliteStore as SqliteStore
    from accord.transcript.events import CommandsChanged as CommandsChanged
    from accord.transcript.events import ConnectionChanged as ConnectionChanged
    from accord.transcript.events import Disconnected as Disconnected
    from accord.transcript.events import Event as Event
    from accord.transcript.events import InfoChanged as InfoChanged
    from accord.transcript.events import Media as Media
    from accord.transcript.events import MessageSet as MessageSet
    from accord.transcript.events import OptionsChanged as OptionsChanged
    from accord.transcript.events import PageDone as PageDone
    from accord.transcript.events import PlanRemoved as PlanRemoved
    from accord.transcript.events import Resumed as Resumed
    from accord.transcript.events import StateChanged as StateChanged
    from accord.transcript.events import SubagentMessage as SubagentMessage
    from accord.transcript.events import TerminalChanged as TerminalChanged
    from accord.transcript.events import TerminalOutput as TerminalOutput
    from accord.transcript.events import Text as Text
    from accord.transcript.events import Thought as Thought
    from accord.transcript.events import Unknown as Unknown
    from accord.transcript.events import UserText as UserText
    from accord.transcript.transcript import Transcript as Transcript
    from accord.transports.base import Transport as Transport

    AgentSession = _agent_session.Session  # an import under another name isn't a public name to type checkers

_EXPORTS = {
    "agent.agent": "Agent command",
    "agent.asgi": "asgi",
    "agent.client": "Client",
    "agent.questions": "Permission",
    "agent.run": "run",
    "agent.session": "AgentSession=Session",
    "agent.tool": "Tool",
    "agent.turn": "Turn",
    "client.agent": "ConnectedAgent",
    "client.connect": "connect",
    "client.handlers": "allow_all reject_all",
    "client.local_workspace": "LocalWorkspace Refused",
    "client.session": "Session",
    "client.workspace": "Workspace",
    "connection.limits": "Limits",
    "errors": "AccordError AuthRequired CapabilityError ConfigError ConnectionClosed DeadlineExceeded InvalidParams "
    "InvalidValue LaunchError LocalProtocolError MethodNotFound NotFound Overloaded PeerDied ProtocolError "
    "RemoteProtocolError RequestCancelled RequestFailed RuleError StoreFailed UsageError VersionError",
    "mcp.offered_server": "OfferedServer",
    "model.account": "Account AuthStatus Provider ProviderConfig",
    "model.content": "Annotations Audio Icon Image Resource ResourceLink TextContent",
    "model.requests": "AuthMethod Elicitation Implementation McpServer PermissionOption PermissionRequest Reply "
    "SystemPrompt",
    "model.session": "Choice Command Compaction Mode Notice Option Plan PlanEntry SessionInfo "
    "Severity StopReason Subagent Tokens Usage",
    "model.tool": "Diff ExitStatus Location Terminal ToolCall ToolKind ToolStatus",
    "policy.engine": "Policy",
    "store.base": "SessionStore",
    "store.memory": "MemoryStore",
    "store.sqlite": "SqliteStore",
    "transcript.events": "CommandsChanged ConnectionChanged Disconnected Event "
    "InfoChanged Media MessageSet OptionsChanged PageDone PlanRemoved Resumed StateChanged "
    "SubagentMessage TerminalChanged TerminalOutput Text Thought Unknown UserText",
    "transcript.transcript": "Transcript",
    "transports.base": "Transport",
}

_SOURCES: dict[str, tuple[str, str]] = {}
for _module, _names in _EXPORTS.items():
    for _name in _names.split():
        _public, _separator, _inner = _name.partition("=")
        _SOURCES[_public] = (_module, _inner or _public)

__all__ = sorted([*_SOURCES, "__version__"])


if not TYPE_CHECKING:  # else every misspelled name would pass

    def __getattr__(name: str) -> Any:
        place = _SOURCES.get(name)
        if place is None:
            raise AttributeError(f"module 'accord' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"accord.{place[0]}"), place[1])
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__

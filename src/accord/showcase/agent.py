"""The showcase agent: all topics, and the reply to prompts that aren't commands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from accord.agent.agent import Agent, CommandHandler, command
from accord.agent.client import Client
from accord.agent.client_quirks import unwrap_prompt
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.account import AuthStatus, Provider, ProviderConfig
from accord.model.content import TextContent
from accord.model.requests import AuthMethod
from accord.model.session import Command, Mode, Option
from accord.showcase.accounts import AUTH_METHODS, Accounts
from accord.showcase.endings import Endings
from accord.showcase.extensions import Extensions
from accord.showcase.media import Media
from accord.showcase.messages import Messages
from accord.showcase.progress import Progress
from accord.showcase.questions import Questions
from accord.showcase.settings import MODES, OPTIONS, Settings
from accord.showcase.terminals import Terminals
from accord.showcase.tools import Tools
from accord.showcase.topic import Topic
from accord.showcase.v2 import Version2


class Showcase(Agent):
    """Shows the features of the protocol, one slash command each.

    Topics own the commands. The agent's other methods, which clients call outside of prompts, delegate to the topic
    that shows the feature."""

    name = "accord-showcase"
    title: ClassVar[str | None] = "Accord showcase"
    version = "1.0"
    unstable = True
    content: ClassVar[Collection[str]] = ("image", "audio", "resource")
    mcp: ClassVar[Collection[str]] = ("stdio", "http", "sse")
    additional_directories = True
    system_prompts: ClassVar[Collection[str]] = ("append", "override")
    legacy_models = True
    auth_methods: Sequence[AuthMethod] = AUTH_METHODS
    modes: Sequence[Mode] = MODES
    options: Sequence[Option] = OPTIONS

    def __init__(self, *, pace: float = 0.0, client_timeout: float = 15.0) -> None:
        self.store = self.kept  # in memory: sessions can be listed, loaded, resumed, forked and deleted
        self.questions: Questions = Questions(pace=pace, client_timeout=client_timeout)
        self.settings: Settings = Settings(pace=pace, client_timeout=client_timeout)
        self.accounts: Accounts = Accounts(pace=pace, client_timeout=client_timeout)
        self.extensions: Extensions = Extensions(pace=pace, client_timeout=client_timeout)
        self.v2: Version2 = Version2(pace=pace, client_timeout=client_timeout)
        self.topics: tuple[Topic, ...] = (
            Messages(pace=pace, client_timeout=client_timeout),
            Media(pace=pace, client_timeout=client_timeout),
            Progress(pace=pace, client_timeout=client_timeout),
            Tools(pace=pace, client_timeout=client_timeout),
            self.questions,
            Terminals(pace=pace, client_timeout=client_timeout),
            self.settings,
            self.accounts,
            Endings(pace=pace, client_timeout=client_timeout),
            self.extensions,
            self.v2,
        )

    @property
    def commands_written(self) -> dict[str, tuple[Command, CommandHandler]]:
        found: dict[str, tuple[Command, CommandHandler]] = {}
        for topic in self.topics:
            found |= topic.commands
        return found | super().commands_written

    def table(self) -> dict[str, list[Command]]:
        """Return the commands by topic."""
        return {topic.title: [command for command, _ in topic.commands.values()] for topic in self.topics}

    def markdown(self) -> str:
        """Render the commands as tables, for `/help` and the documentation."""
        tables = []
        for title, commands in self.table().items():
            rows = [
                f"| `/{each.name}{f' [{each.hint}]' if each.hint else ''}` | {each.description} |" for each in commands
            ]
            tables.append("\n".join([f"| {title} | |", "|---|---|", *rows]))
        return "\n\n".join(tables) + "\n"

    @command("help", "Lists all commands")
    async def show_help(self, turn: Turn) -> None:
        await turn.say(self.markdown())

    async def accept_prompt(self, turn: Turn) -> None:
        turn.content = unwrap_prompt(turn.content)

    async def prompt(self, turn: Turn) -> None:
        """List the content of the prompt, then the commands."""
        others = [type(piece).__name__ for piece in turn.content if not isinstance(piece, TextContent)]
        if turn.session.data.get("extra") and turn.text.lstrip().startswith("/extra"):
            await turn.say("You found /extra.")
            return
        if others:
            await turn.say(f"Besides text, your prompt contained: {', '.join(others)}.\n\n")
        await turn.say("There is no model here, only features to look at. Send one of these:\n\n")
        await turn.say(self.markdown())

    # -- Methods that clients call outside of prompts

    async def new_session(self, session: Session) -> None:
        await self.questions.open_session(session)

    async def close_session(self, session: Session) -> None:
        self.v2.close_session(session)

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        self.settings.set_option(session, option, value)

    async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
        self.v2.cancel(session, tool_call_id)

    async def cancel_terminal(self, session: Session, terminal_id: str) -> None:
        self.v2.cancel(session, terminal_id)

    async def cancel_subagent(self, session: Session) -> None:
        self.extensions.cancel_subagent(session)

    async def login(self, method_id: str, client: Client) -> None:
        await self.accounts.login(method_id, client)

    async def logout(self) -> None:
        self.accounts.name = None

    async def auth_status(self) -> AuthStatus:
        return self.accounts.auth_status()

    async def list_providers(self) -> Sequence[Provider]:
        return list(self.accounts.providers.values())

    async def set_provider(self, provider_id: str, config: ProviderConfig) -> None:
        self.accounts.set_provider(provider_id, config)

    async def disable_provider(self, provider_id: str) -> None:
        self.accounts.set_provider(provider_id, None)

"""The state of one session of the coding agent: files, rules, plan, model, history, MCP servers and usage."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from accord.coder import modes
from accord.coder.agents_md import NestedInstructions, may_read
from accord.coder.background_commands import BackgroundCommands
from accord.coder.commands import SlashCommands
from accord.coder.context import size
from accord.coder.custom_commands import CustomCommands
from accord.coder.files import ProjectFiles
from accord.coder.history import (
    KIND,
    Message,
    Reminder,
    UserSaid,
    filter_supported,
    replace_surrogates,
)
from accord.coder.model_choice import ModelChoice
from accord.coder.notices import Notices
from accord.coder.saved_history import SavedHistory
from accord.coder.saved_outputs import SavedOutputs
from accord.coder.seen_files import SeenFiles, describe_changes
from accord.coder.session_title import SessionTitle
from accord.coder.skills import Skills
from accord.coder.usage import SessionUsage
from accord.errors import RequestFailed
from accord.model.content import Content, TextContent
from accord.model.session import Command, PlanEntry, StopReason
from accord.model.statement import PrivateData, RemovePlan, SetPlan, SetUsage

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Prompt, Turn
    from accord.coder.instructions import SystemPrompt
    from accord.coder.mcp.servers import Servers
    from accord.coder.models.base import Spent
    from accord.coder.sandbox import Sandbox
    from accord.coder.secrets import Secrets
    from accord.coder.shared_resources import SharedResources
    from accord.coder.subagents import Subagents
    from accord.config.settings import CoderSettings
    from accord.model.requests import McpServer
    from accord.policy.engine import Policy
    from accord.store.base import SessionStore

T = TypeVar("T")
WATCH_SECONDS = 2.0
MEANS_UNDO = frozenset({"undo", "undo it", "undo that", "undo this", "undo the last change", "revert that"})
"""Prompts that mean `/undo` without a language model."""
NO_UNDO = "/undo won't work for these changes"
EMPTY_PROMPT = "That prompt was empty. Say what should be done, or send `/help`."
_SLASH = re.compile(r"\s*/(\S+)\s*(.*)", re.DOTALL)


class CoderSession:
    """All state of a session that outlives a tool call."""

    def __init__(
        self,
        session: Session,
        shared: SharedResources,
        policy: Policy,
        secrets: Secrets,
        settings: CoderSettings,
        *,
        is_new: bool = True,
        reserved_commands: Collection[str] = (),
    ) -> None:
        self.session = session
        self.shared = shared
        self.settings: CoderSettings = settings
        """The configuration of the coding agent, as it was when the session was opened or the last turn began."""
        self.secrets = secrets
        session.redactor = secrets
        session.environment = secrets.environment
        self.roots: list[str] = session.roots
        """The directories it works in."""
        self.policy: Policy = policy
        self.files: ProjectFiles = ProjectFiles(session)
        self._outputs: SavedOutputs | None = None
        self.background: BackgroundCommands = BackgroundCommands()
        """The commands that run beside the conversation."""
        self.models: ModelChoice = ModelChoice(session, shared)
        self.commands: SlashCommands = SlashCommands(self)
        self.custom_commands: CustomCommands = CustomCommands(
            session,
            lambda: self.files.disk,
            reserved_commands,
            self._publish_commands,
            lambda path: may_read(self, path),
        )
        self.parent: CoderSession | None = None
        """The session that a sub-agent works for. Its budget is charged, and the user isn't asked for permission."""
        self.role: str | None = None
        """The role in the system prompt of a sub-agent; None for the agent itself."""
        self.skills: Skills = Skills(self, reserved_commands)
        """The skills of the user and the project."""
        self.servers: Servers | None = None
        """Its MCP servers, if it has any."""
        self._server_configs: list[McpServer] = []
        """The configuration that `servers` was made from."""
        self.history: SavedHistory = SavedHistory(session)
        """The conversation as the model sees it."""
        self.system_prompt: SystemPrompt | None = None
        """The system prompt, once a request has needed it."""
        self.nested_instructions: NestedInstructions = NestedInstructions(self)
        """The instruction files that tool calls come across."""
        self.seen_files: SeenFiles = SeenFiles()
        """The files that the model has read or written."""
        self.plan: list[PlanEntry] = []
        self.planning: bool = False
        """Whether this turn only makes a plan, whatever the session's mode."""
        self.asking: asyncio.Lock = asyncio.Lock()
        """Held while the user is asked for permission."""
        self.allow_private: bool = shared.allows_private
        """Whether `fetch_url` may connect to private network addresses."""
        self.is_unused: bool = is_new
        """Whether it is new and has had no prompt."""
        self.is_open: bool = False
        """Whether its options have been offered: only then can a login offer other models."""
        self.last_turn: Turn | None = None
        """The turn of the newest prompt."""
        self.last_sent: list[Content] = []
        """The newest prompt, as the client sent it."""
        self.usage: SessionUsage = SessionUsage(session)
        """The context, tokens and cost so far."""
        self.notices: Notices = Notices(session)
        """What the user should know besides the model's answers."""
        self._sandbox: Sandbox | None = None
        self.title: SessionTitle = SessionTitle(self)
        """Gives it a title after the first prompt."""
        self._subagents: Subagents | None = None

    @property
    def subagents(self) -> Subagents:
        """The sub-agents that work for this session."""
        if self._subagents is None:
            from accord.coder.subagents import Subagents

            self._subagents = Subagents(self)
        return self._subagents

    @property
    def cache_key(self) -> str:
        """Requests with the same key probably share a prefix. Sub-agents have another prompt than their parent."""
        return self.session.id if self.parent is None else f"{self.parent.session.id}-sub"

    # -- opening and closing

    async def open(self, watch_seconds: float = WATCH_SECONDS) -> None:
        """Offer options and commands, and start the background tasks."""
        await self.shared.read_keys(self.session.cwd)
        self.session.set_options(self.models.options())
        self.is_open = True
        self.custom_commands.watch(watch_seconds)
        self.models.preload()
        self._start_servers()
        await self.skills.load()
        await self.custom_commands.reload()
        if self.skills.by_name and not self.custom_commands.by_name:
            self._publish_commands()

    async def reopen(self) -> None:
        """Handle a client that opens the session again, perhaps with other directories or servers."""
        if self.roots != self.session.roots:
            await self._move()
        if self._server_configs != self.session.mcp_servers:
            servers, self.servers = self.servers, None
            if servers is not None:
                await servers.close()
            self._start_servers()
        self.session.set_options(self.models.options())
        self._publish_commands()

    async def _move(self) -> None:
        """Move to other directories, with their rules."""
        if self.session.turns.working is not None:
            raise RequestFailed("can't change directories while a turn is running; try again when it has ended")
        policy = self.shared.policy(self.session.roots, self.shared.settings(self.session.cwd))
        await self.background.close()
        await self._close_sandbox()
        await self.session.stop_commands()  # ends terminals and closes files of the old directories
        self.files.close()
        self.files = ProjectFiles(self.session)
        self.roots = self.session.roots
        self.policy = policy
        self._allow_reading_outputs()
        await self.skills.load()
        await self.custom_commands.reload()

    def _start_servers(self) -> None:
        self._server_configs = self.session.mcp_servers
        if self._server_configs:
            from accord.coder.mcp.servers import Servers

            self.servers = Servers(self.session)
            self.servers.changed = self._publish_commands
            self.servers.start()

    def _publish_commands(self) -> None:
        commands: list[Command] = [custom.command for custom in self.custom_commands.by_name.values()]
        commands += self.skills.commands(taken=self.custom_commands.by_name)
        if self.servers is not None:
            commands += self.servers.commands()
        if not self.session.closed:
            self.session.set_commands(commands)

    async def close(self) -> None:
        """Stop everything that runs for this session."""
        self.is_open = False
        self.title.close()
        self.custom_commands.close()
        await self.background.close()
        await self._close_sandbox()
        self.files.close()
        try:
            if self.servers is not None:
                await self.servers.close()
        finally:
            await self.models.close()

    # -- turns

    async def prompt(self, turn: Turn) -> StopReason | None:
        """Handle a prompt. Custom commands and MCP prompts are replaced by what they stand for."""
        content = await self._expand(turn, turn)
        if content == []:  # an MCP prompt that failed; already reported
            return None
        return await self.run_turn(turn, content)

    async def run_turn(self, turn: Turn, content: list[Content] | None = None) -> StopReason | None:
        """Let the model work on the prompt, or on `content` in its place."""
        with self.secrets.protect_cuts():
            return await self._run_turn(turn, content)

    async def _run_turn(self, turn: Turn, content: list[Content] | None) -> StopReason | None:
        from accord.coder.loop import Loop

        await self.notices.show_pending()
        self.settings = self.shared.settings(self.session.cwd).settings.coder
        prompt = UserSaid(content=filter_supported(content or turn.content))
        if not prompt.content:
            await turn.say(EMPTY_PROMPT)
            return None
        if self.session.title is None and turn.text.strip():
            await self.title.begin(turn)
        model = await self._remember_if_cancelled(prompt, self.models.get())
        if model.reads_data and turn.text.strip().rstrip(".!").lower() in MEANS_UNDO:
            await self.commands.undo(turn)
            return None
        if self.servers is not None:
            await self._remember_if_cancelled(prompt, self.servers.ready())
        loop = Loop(
            turn,
            self,
            model,
            self.tools,
            expand=lambda prompt: self._expand(turn, prompt),
            **self.shared.limits,
        )
        try:
            return await loop.run(content)
        finally:
            try:
                await self._end_checkpoint()
            finally:
                await self.models.close_replaced()

    async def _remember_if_cancelled(self, prompt: UserSaid, waiting: Awaitable[T]) -> T:
        """Wait for what a turn needs. If the user cancels meanwhile, the next prompt may refer to this one."""
        try:
            return await waiting
        except asyncio.CancelledError:
            self.history.add(prompt)
            raise

    def tools(self) -> dict[str, Any]:
        """Return every tool of this session, those of MCP servers included, by name."""
        own = {name: tool for name, tool in self.shared.tools().items() if tool.is_offered(self)}
        return {**own, **(self.servers.tools() if self.servers is not None else {})}

    async def _expand(self, turn: Turn, prompt: Prompt) -> list[Content] | None:
        """Return the content that a custom command or an MCP prompt stands for, or None for any other prompt.

        Empty if an MCP prompt couldn't be expanded; the user is told why."""
        from accord.coder.tools.base import ToolError

        try:
            return await self._expand_content(prompt.content)
        except ToolError as error:  # an argument is missing, or the server doesn't answer
            await turn.say(str(error))
            return []

    async def _expand_content(self, content: list[Content]) -> list[Content] | None:
        for piece in content:
            slash = _SLASH.match(piece.text) if isinstance(piece, TextContent) else None
            if slash is None:
                continue
            name, argument = slash.groups()
            rest = [other for other in content if other is not piece]
            if custom := self.custom_commands.by_name.get(name):
                return [TextContent(custom.fill(argument)), *rest]
            if (skill := await self.skills.expand(name, argument)) is not None:
                return [TextContent(skill), *rest]
            if self.servers is not None and name.startswith("mcp:"):
                await self.servers.ready()
                if name in {command.name for command in self.servers.commands()}:
                    return [*await self.servers.prompt_messages(name, argument), *rest]
        return None

    # -- mode and plan

    @property
    def mode(self) -> str:
        """The mode in effect: "ask", "architect" or "code". Architect while only a plan is wanted."""
        return modes.ARCHITECT.id if self.planning else str(self.session.mode)

    async def switch_mode(self, mode: str) -> None:
        """Switch to another mode."""
        self.planning = False
        await self.session.set_mode(mode)

    async def set_plan(self, entries: list[PlanEntry]) -> None:
        """Publish the plan."""
        self.plan = entries
        await self.session.plan(entries)

    # -- history

    def replace_history(self, messages: list[Message]) -> None:
        """Replace the history with a summary and the messages after it."""
        self.history.replace(messages)
        self.nested_instructions.forget()
        self.seen_files.forget()

    def prune_history(self, messages: list[Message]) -> None:
        """Replace the history with one whose older results are omitted."""
        self.history.prune(messages)

    async def announce_file_changes(self, *, ask_client: bool) -> None:
        """Tell the model which of the files it has read or written were changed by others."""
        changes = await self.seen_files.find_changes(self.files, ask_client=ask_client)
        if text := describe_changes(changes, self.session.cwd):
            self.history.add(Reminder(text=text))

    def announce_ended_commands(self) -> None:
        """Tell the model which background commands have ended since it last read their output."""
        if text := self.background.take_ended():
            self.history.add(Reminder(text=text))

    async def restore(self, store: SessionStore) -> None:
        """Load the history, plan and usage of a saved session."""
        from accord.coder import instructions

        async for statement in store.history(self.session.id):
            match statement:
                case PrivateData(kind=kind, data=data) if kind == KIND:
                    self.history.load(data)
                case PrivateData(kind=instructions.KIND, data=data):
                    self.system_prompt = instructions.from_note(data)
                case SetPlan(plan=plan):
                    self.plan = list(plan.entries)
                case RemovePlan():
                    self.plan = []
                case SetUsage(usage=usage):
                    self.usage.context = usage.used
                    self.usage.cost = usage.cost.amount if usage.cost is not None else self.usage.cost
        self.history.repair()

    # -- usage

    async def record_usage(self, spent: Spent, window: int, turn: Turn) -> None:
        """Record and report the usage of a request."""
        # Some providers don't count tokens. Then estimate: compaction must still start in time.
        self.usage.context = spent.input + spent.output if spent.input else size(self.history) // 4
        self.usage.add(spent, turn)
        await self.usage.report(window)

    @property
    def is_over_budget(self) -> bool:
        """Whether the turn has reached the configured cost limit, sub-agents included."""
        if self.parent is not None:
            return self.parent.is_over_budget
        limit = self.settings.max_cost
        return limit is not None and self.usage.turn_cost >= limit

    # -- commands

    async def save_output(self, text: str) -> str | None:
        """Save long output, and return the path of its file, which tools may read; None if it can't be saved."""
        if self._outputs is None:
            self._outputs = SavedOutputs(self.session.id)
            self._allow_reading_outputs()
        return await asyncio.to_thread(self._outputs.save, self.secrets.redact(replace_surrogates(text)))

    def _allow_reading_outputs(self) -> None:
        from accord.policy.patterns.glob import escape
        from accord.policy.rule import Rule

        if self._outputs is not None and self._outputs.directory is not None:
            pattern = f"{escape(self._outputs.directory)}/*"
            self.policy.add(Rule(effect="allow", path=(pattern,), access="read", session=self.session.id))

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox for commands."""
        if self._sandbox is None:
            from accord.coder.sandbox import Sandbox

            self._sandbox = Sandbox(self.session, self.policy, self.files)
        return self._sandbox

    async def _close_sandbox(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await asyncio.to_thread(sandbox.close)

    # -- changes

    async def before_change(self, turn: Turn, *, is_recorded: bool = True) -> None:
        """Make a checkpoint before a tool changes something, so that `/undo` can restore the files.

        `is_recorded` is as for `files.checkpoint`. If that fails, the turn continues and the user is warned."""
        try:
            await self.files.checkpoint(turn, is_recorded=is_recorded)
        except (OSError, ValueError) as error:
            await self.notices.warn_once(NO_UNDO, str(error))

    async def _end_checkpoint(self) -> None:
        try:
            await self.files.end_checkpoint()
        except (OSError, ValueError) as error:
            await self.notices.warn_once(NO_UNDO, str(error))

"""One session of the hub: its events, its clients, its prompts, and the agent process it runs in."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from msgspec import UNSET, UnsetType

from accord.connection.relay_connection import Outcome, RelayConnection
from accord.errors import INVALID_REQUEST, RequestFailed
from accord.hub.agent_host import DIALECTS, Offer
from accord.hub.agent_process import AgentProcess, fail
from accord.hub.attachment import Attachment, Subscriber
from accord.hub.context import Context
from accord.hub.departure import Departure
from accord.hub.dialect import Dialect, Usage, turn_tokens
from accord.hub.event_log import Event, EventKind, SessionRecord
from accord.hub.history import SessionHistory
from accord.hub.mcp_relay import McpRelay
from accord.hub.open_request import CLIENT_FILES, PERMISSION, read_option
from accord.hub.open_requests import OpenRequests
from accord.hub.principal import Role
from accord.hub.prompt_queue import Prompt, PromptQueue
from accord.hub.raw_params import (
    add_meta,
    decode,
    read_head,
    read_object,
    read_text,
    remove_meta,
    replace_fields,
    write_object,
)
from accord.hub.reply import Reply
from accord.hub.server_workspace import ServerWorkspace, SessionFiles
from accord.hub.session_agent import Ending, SessionAgent
from accord.hub.session_clients import SessionClients
from accord.hub.session_state import SessionState
from accord.policy.question import Question
from accord.rpc.envelope import Success
from accord.rpc.ids import RequestId
from accord.schema.wire import encode

log: logging.Logger = logging.getLogger("accord")

OUR_KEYS = ("accord/key", "accord/after", "accord/resume")
"""The keys of `_meta` that only the hub reads."""
MAX_SUBAGENTS = 10_000
MAX_PROMPTS = 100
"""How many prompts a session runs or queues."""
_NO_USAGE = Usage()


class SessionOwner(Protocol):
    """The registry of sessions, as one of them sees it."""

    def close_later(self, session: HubSession) -> None:
        """Close a session that no client needs, and that can be opened again."""

    def note_subagent(self, id: str, session: HubSession) -> None:
        """Register the session of a new subagent."""

    def note_idle(self) -> None:
        """Called when a turn of any session has ended."""


class HubSession:
    """A session that is open in the hub, with or without clients.

    A server has many of these, most of them idle, so rarely needed parts are created on first use."""

    def __init__(
        self, context: Context, record: SessionRecord, process: AgentProcess | None, owner: SessionOwner
    ) -> None:
        self.record = record
        self.dialect: Dialect = DIALECTS[record.version]
        self.state: SessionState = SessionState(record, self.dialect)
        self.prompts: PromptQueue = PromptQueue(self, one_at_a_time=self.dialect.has_queue)
        self.subagents: frozenset[str] | set[str] = frozenset()
        """The ids of sessions that subagents have within this one."""
        self.history: SessionHistory = SessionHistory(context, record)
        self.agent: SessionAgent = SessionAgent(context, record, self.dialect, self, process, self._find_offer)
        self._context = context
        self._owner = owner
        self.requests: OpenRequests = OpenRequests(
            record.id, self.history.epoch, context.settings.permissions, self.publish
        )
        self.requests.on_added = self._cancel_if_paused
        self.clients: SessionClients = SessionClients(record.id, self.history, self.requests)
        self._departure = Departure(self, context.settings)
        self._is_paused = False
        self._files: SessionFiles | None = None
        self.mcp: McpRelay = McpRelay(record.owner, bytes(record.params))
        """The MCP servers that a client offers to the agent."""

    # -- state

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running."""
        return bool(self.prompts.running) or self.state.is_working

    @property
    def process(self) -> AgentProcess | None:
        """The agent process; None if it has ended or wasn't needed yet."""
        return self.agent.process

    @property
    def originator(self) -> str | None:
        """The principal whose prompt is running."""
        return self.prompts.last.principal.name if self.is_busy and self.prompts.last is not None else None

    def _find_offer(self) -> Offer | None:
        return next((each.subscriber.offer for each in self.clients), None)

    def connections(self) -> Iterable[RelayConnection]:
        return self.clients.connections()

    def drivers(self) -> Iterable[RelayConnection]:
        return self.clients.drivers()

    def count_turns(self, principal: str) -> int:
        """Return how many turns of a principal are running or queued here."""
        count = self.prompts.count(principal)
        return count or int(self.state.is_working and self.originator == principal)

    async def recover(self) -> None:
        """Follow the events since the record was saved. If the server ended during a turn, end the turn."""
        async for event in self.history.read_uncounted():
            if event.method == "session/update" and read_head(event.params).session_id == self.id:
                _, usage = self.state.read_update(event.params)
                self.state.read_usage(usage)
        if self.state.is_working:
            self.state.is_working = False
            update = self.dialect.end_turn_update(self.id, "the server restarted while this turn was running")
            if update is not None:
                self.publish("session/update", update)

    # -- events

    def publish(
        self, method: str, params: bytes, kind: EventKind = "notification", *, origin: str = "", request: str = ""
    ) -> Event:
        """Log an event, and send it to all clients once it is durable."""
        event = self.history.append(method, params, kind, origin, request)
        self._context.commits.then(self.clients.send, event)
        return event

    # -- clients

    async def attach(self, subscriber: Subscriber, role: Role, history: str, cursor: str = "") -> None:
        """Attach a client. First it gets the history it asks for: `full`, `none`, or the events `after` a cursor."""
        self._context.commits.commit()
        self.clients.remove(subscriber.connection)
        attachment = await self.clients.replay(subscriber, role, history, cursor)
        self._add(attachment)
        if subscriber.is_resume_aware:
            self.requests.send_all(attachment)
            self.mcp.redeliver(subscriber)

    def send_requests(self, subscriber: Subscriber) -> None:
        """Send a plain client the open requests. It expects none before the response to its request to open."""
        attachment = self.clients.find(subscriber.connection)
        if attachment is not None:
            self.requests.send_all(attachment)
            self.mcp.redeliver(subscriber)

    def attach_now(self, subscriber: Subscriber, role: Role) -> None:
        """Attach a client that gets everything from now on."""
        self._add(Attachment(subscriber, role, self.history.seq))

    def _add(self, attachment: Attachment) -> None:
        if attachment.subscriber.connection.is_open:
            self.clients.add(attachment)
            self._departure.client_joined()
        else:
            self._departure.client_left()

    def detach(self, connection: RelayConnection) -> None:
        """Remove a client."""
        if self.clients.remove(connection):
            self.mcp.disconnect(connection)
            self._departure.client_left()

    # -- clients that leave

    @property
    def has_clients(self) -> bool:
        return bool(self.clients)

    @property
    def has_drivers(self) -> bool:
        return self.clients.has_drivers

    @property
    def is_needed(self) -> bool:
        return self.is_busy or bool(self.requests) or not self.agent.can_restore

    def pause(self) -> None:
        """Start no queued prompts, and cancel the turn when it needs an answer."""
        self._is_paused = True
        self.prompts.is_held = True
        if self.requests:
            self.cancel()

    def unpause(self) -> None:
        """Undo `pause`."""
        if self._is_paused:
            self._is_paused = False
            self.prompts.is_held = False
            self.prompts.start_next()

    def abandon(self) -> None:
        """Cancel all work."""
        self.prompts.drop_queued()
        if self.is_busy:
            self.cancel()

    def on_abandoned(self) -> None:
        """Close the session: it has no clients."""
        self._owner.close_later(self)

    # -- prompts

    def prompt(self, subscriber: Subscriber, params: bytes, reply: Reply) -> None:
        """Run a client's prompt after the earlier ones."""
        if len(self.prompts) >= MAX_PROMPTS:
            raise RequestFailed(f"{MAX_PROMPTS} prompts are already waiting in this session; try again later")
        if len(self.prompts) > 1 and self.prompts.queued_bytes + len(params) > self._context.settings.max_queued_bytes:
            raise RequestFailed("the prompts waiting in this session are too large; try again later")
        reply.save(self.id)
        self.prompts.add(Prompt(self.for_agent(params), subscriber.principal, subscriber.origin, reply))

    def run(self, prompt: Prompt, done: Callable[[Outcome], None]) -> None:
        """Log a prompt, and pass it to the agent once it is durable."""
        self._context.counters.turns += 1
        for update in self.dialect.prompt_updates(self.id, read_object(prompt.params)):
            by = b'"accord/by":%b' % encode(prompt.principal.name)
            self.publish("session/update", add_meta(update, by), origin=prompt.origin)
        send = partial(self._pass_on, prompt, done)
        sender = prompt.principal.name
        self._context.commits.then(lambda _: self.agent.when_ready(send, done, sender, len(prompt.params)))

    def _pass_on(self, prompt: Prompt, done: Callable[[Outcome], None], process: AgentProcess) -> None:
        if prompt in self.prompts.running:  # otherwise it was cancelled while the agent was started
            source = (prompt.reply.connection, prompt.reply.id)
            id = process.relay("session/prompt", prompt.params, done, source, sender=prompt.principal.name)
            prompt.agent_request = (process, id)

    def finish(self, prompt: Prompt, outcome: Outcome) -> None:
        """Count a prompt's usage, and name its author to the other clients if the agent repeats prompts itself."""
        if isinstance(outcome, Success):
            result = decode(outcome.result)
            if isinstance(result, dict):
                self._count(Usage(turn_tokens=turn_tokens(result.get("usage"))), prompt.principal.name)
                if not self.dialect.has_queue and isinstance(result.get("messageId"), str):
                    by = {"sessionId": self.id, "messageId": result["messageId"], "by": prompt.principal.name}
                    self.publish("_accord/prompted", write_object(by), "notice")
        self.touch()
        self._owner.note_idle()

    def cancel(self, subscriber: Subscriber | None = None, params: bytes | None = None) -> None:
        """Cancel the running turn, and the queued prompts of the client that asked for it."""
        self.prompts.drop_queued(subscriber.origin if subscriber is not None else None)
        # Not counted with the other messages: a client that has queued too many may still cancel.
        sender = ("cancel", subscriber.principal.name if subscriber is not None else "")
        self._context.commits.then(partial(self._send_cancel, sender), params or write_object({"sessionId": self.id}))
        # After the notification: an agent that gets the answers first may end its turn as if it wasn't cancelled.
        self.requests.cancel_all()

    def _send_cancel(self, sender: tuple[str, str], params: bytes) -> None:
        self.prompts.drop_unsent()
        if self.process is not None:
            self.process.notify("session/cancel", self.for_agent(params), sender)

    # -- other messages of clients

    def relay(self, subscriber: Subscriber, method: str, params: bytes, reply: Reply) -> None:
        """Forward a client's request to the agent. If it changes something, the other clients get an update."""
        sent = self.for_agent(params)

        def finish(outcome: Outcome) -> None:
            if isinstance(outcome, Success) and self.state.read_response(method, sent, bytes(outcome.result)):
                self.touch()
                update = self.state.describe_change(method)
                if update is not None:
                    params = write_object({"sessionId": self.id, "update": update})
                    self.publish("session/update", params, origin=subscriber.origin)
            reply.finish(outcome)

        def send(process: AgentProcess) -> None:
            id = process.relay(method, sent, finish, (reply.connection, reply.id), sender=sender)
            reply.on_cancel = lambda: process.connection.cancel(id)

        sender = subscriber.principal.name
        self._context.commits.then(lambda _: self.agent.when_ready(send, reply.finish, sender, len(sent)))

    def relay_notification(self, subscriber: Subscriber, method: str, params: bytes) -> None:
        """Pass a notification of a client to the agent, if it runs."""
        if self.process is not None:
            notify = partial(self.process.notify, method, sender=subscriber.principal.name)
            self._context.commits.then(notify, self.for_agent(params))

    # -- the agent

    def on_agent_notification(self, method: str, params: bytes) -> None:
        if method == "session/update" and b"subagent_update" in params:
            self._note_subagent(params)
        if self.agent.is_replaying:
            return
        params = self._for_clients(params)
        id = read_head(params).session_id
        if not self._is_ours(id):
            log.warning("dropped a message from an agent about another agent's session")
            return
        if method == "session/update" and id == self.id:
            changed, usage = self.state.read_update(params)
            if usage != _NO_USAGE:
                self._count(usage, self.prompts.last.principal.name if self.prompts.last else self.record.owner)
            self.publish(method, params)
            if changed:
                self.touch()
            if not self.is_busy:
                self._owner.note_idle()
        else:
            self.publish(method, params)

    def on_agent_request(self, id: RequestId, method: str, params: bytes) -> None:
        process = self.agent.asking
        if not self._is_ours(read_head(self._for_clients(params)).session_id):
            process.answer(id, fail("this session belongs to another agent process", INVALID_REQUEST))
            return
        if not self._context.settings.client_files and method.startswith(CLIENT_FILES):
            self._context.start(self._open_files().answer(process, id, method, params))
            return
        shown = self._for_clients(params)

        def resolve(outcome: Outcome) -> None:
            option = read_option(outcome) if method == PERMISSION else None
            if option is not None and self.dialect.has_files and not self._context.settings.client_files:
                self._context.start(self._open_files().note_answer(shown, option))
            # In order with a `session/cancel` that the client has sent before.
            self._context.commits.then(partial(process.answer, id, sender=("answer", self.record.owner)), outcome)

        last = self.prompts.last
        driver = last.origin if last is not None and self.clients.has(last.origin) else None
        self.requests.add(
            method,
            shown,
            resolve,
            originator=self.originator,
            driver=driver,
            agent_id=id,
        )

    def _open_files(self) -> SessionFiles:
        if self._files is None:
            self._files = SessionFiles(self._create_workspace)
        return self._files

    def _create_workspace(self) -> ServerWorkspace:
        return ServerWorkspace(self.id, self.record.cwd, self._context.settings.policy, self._ask_clients)

    def _cancel_if_paused(self) -> None:
        if self._is_paused:
            self.cancel()

    def _is_ours(self, id: str | UnsetType) -> bool:
        """Return whether an agent's message is about this session or one of its subagents, and not about another."""
        if id is UNSET or id == self.id or id in self.subagents:
            return True
        if len(self.subagents) >= MAX_SUBAGENTS or self._context.has_session(id):
            return False
        if isinstance(self.subagents, frozenset):
            self.subagents = set()
        self.subagents.add(id)
        self._owner.note_subagent(id, self)
        return True

    def _note_subagent(self, params: bytes) -> None:
        """Claim the messages of a subagent, which is announced before it sends any."""
        child = read_text(read_object(read_object(params).get("update", UNSET)).get("sessionId"))
        if child is not None:
            self.agent.asking.add_subagent(child, self)

    def on_agent_cancel(self, id: RequestId) -> None:
        self.requests.cancel_by_agent(id)

    def on_agent_ended(self, reason: str) -> None:
        self.agent.note_ended()
        self.requests.cancel_all()
        if self.state.is_working:
            self.state.is_working = False
            update = self.dialect.end_turn_update(self.id, reason)
            if update is not None:
                self.publish("session/update", update)
        self.publish("_accord/agent_ended", write_object({"sessionId": self.id, "reason": reason}), "notice")
        self._owner.note_idle()

    async def _ask_clients(self, question: Question, tool_call_id: str) -> Outcome:
        params = self.dialect.permission_params(self.id, question, tool_call_id)
        return await self.requests.ask(PERMISSION, params, originator=self.originator)

    # -- ids, records, the end

    def for_agent(self, params: bytes) -> bytes:
        """Return a client's params without the hub's keys, and with the agent's id of the session."""
        params = remove_meta(params, *OUR_KEYS)
        if self.record.agent_id != self.id and read_head(params).session_id == self.id:
            params = replace_fields(params, sessionId=self.record.agent_id)
        return params

    def _for_clients(self, params: bytes) -> bytes:
        """Return the agent's params with the hub's id of the session."""
        if self.record.agent_id != self.id and read_head(params).session_id == self.record.agent_id:
            params = replace_fields(params, sessionId=self.id)
        return params

    def _count(self, usage: Usage, principal: str) -> None:
        """Charge the usage to the principal's budget."""
        tokens, cost = self.state.read_usage(usage)
        if tokens or cost:
            self._context.budgets.add(principal, tokens, cost, self._context.log)
            self._context.commits.touch()

    def touch(self) -> None:
        """Update the time of the last change, and save the record."""
        self.record.updated_at = time.time()
        self._context.log.save_session(self.record)
        self._context.commits.touch()

    async def close(self, ending: Ending = "close") -> None:
        """End the session's work and its agent process. The log keeps the session."""
        self._departure.close()
        self.history.close()
        self.prompts.drop_queued()
        self.requests.cancel_all()
        self.clients.clear()
        self.mcp.close()
        if self._files is not None:
            await self._files.close()
        await self.agent.close(ending)

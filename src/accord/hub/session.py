"""One session of the hub: its events, its clients, its prompts, and the agent process it runs in."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import UNSET, UnsetType

from accord.connection.relay_connection import Outcome, RelayConnection
from accord.errors import INVALID_REQUEST, NotFound, RequestFailed
from accord.hub.agent_host import DIALECTS, Offer
from accord.hub.agent_process import AgentProcess, fail
from accord.hub.attachment import Attachment, Subscriber
from accord.hub.context import Context
from accord.hub.departure import Departure
from accord.hub.dialect import Dialect, Usage, turn_tokens
from accord.hub.event_log import Event, EventKind, SessionRecord
from accord.hub.history import SessionHistory
from accord.hub.mcp_relay import McpRelay
from accord.hub.open_request import CLIENT_FILES, PERMISSION
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


class HubSession:
    """A session that is open in the hub, with or without clients."""

    def __init__(self, context: Context, record: SessionRecord, process: AgentProcess | None) -> None:
        self.record = record
        self.dialect: Dialect = DIALECTS[record.version]
        self.state: SessionState = SessionState(record, self.dialect)
        self.prompts: PromptQueue = PromptQueue(self, one_at_a_time=self.dialect.has_queue)
        self.attachments: dict[RelayConnection, Attachment] = {}
        self.subagents: set[str] = set()
        """The ids of sessions that subagents have within this one."""
        self.on_idle: Callable[[], None] = lambda: None
        """Called when a turn has ended."""
        self.on_subagent: Callable[[str], None] = lambda id: None
        """Called with the id of each new subagent."""
        self.close_later: Callable[[], None] = lambda: None
        """Called when no client needs the session and it can be opened again later."""
        self.history: SessionHistory = SessionHistory(context, record)
        self.agent: SessionAgent = SessionAgent(context, record, self.dialect, self, process, self._find_offer)
        self._context = context
        self.requests: OpenRequests = OpenRequests(
            record.id, self.history.epoch, context.settings.permissions, self.publish
        )
        self.requests.on_added = self._cancel_if_paused
        self._departure = Departure(self, context.settings)
        self._is_paused = False
        policy = context.settings.policy
        self._files = SessionFiles(lambda: ServerWorkspace(self.id, record.cwd, policy, self._ask_clients))
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
        return next((each.subscriber.offer for each in self.attachments.values()), None)

    def connections(self) -> Iterable[RelayConnection]:
        ordered = sorted(self.attachments.values(), key=lambda each: not each.can_drive)
        return [each.subscriber.connection for each in ordered]

    def drivers(self) -> Iterable[RelayConnection]:
        return [each.subscriber.connection for each in self.attachments.values() if each.can_drive]

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
        self._context.commits.then(self._send_to_all, event)
        return event

    def _send_to_all(self, event: Event) -> None:
        for attachment in list(self.attachments.values()):
            if event.seq > attachment.seq:
                self._send(attachment, event)

    def _send(self, attachment: Attachment, event: Event) -> None:
        if event.kind == "request":
            attachment.seq = event.seq
            self.requests.send(attachment, event)
        elif event.origin and event.origin == attachment.subscriber.origin:
            attachment.seq = event.seq  # the client has its own prompt
        else:
            attachment.send(event, self.history.epoch)

    # -- clients

    async def attach(self, subscriber: Subscriber, role: Role, history: str, cursor: str = "") -> None:
        """Attach a client. First it gets the history it asks for: `full`, `none`, or what came `after` a cursor."""
        self._context.commits.commit()
        self.attachments.pop(subscriber.connection, None)
        self.requests.withdraw(subscriber.connection)
        attachment = Attachment(subscriber, role, self.history.seq)
        if history != "none":
            after = self.history.read_cursor(cursor) if history == "after" else None
            if history == "after" and after is None:
                params = write_object({"sessionId": self.id, "cursor": self.history.cursor})
                subscriber.connection.notify("_accord/snapshot", params)
            await self.history.replay(attachment, after, self._replay_request)
        # Nothing is awaited between the last page and here, so that no event is lost or sent twice.
        self._add(attachment)
        if subscriber.is_resume_aware:
            self.requests.send_all(attachment)
            self.mcp.redeliver(subscriber)

    def _replay_request(self, attachment: Attachment, event: Event) -> None:
        if attachment.subscriber.is_resume_aware:
            self.requests.send(attachment, event)

    def send_requests(self, subscriber: Subscriber) -> None:
        """Send a plain client the open requests. It expects none before the response to its request to open."""
        attachment = self.attachments.get(subscriber.connection)
        if attachment is not None:
            self.requests.send_all(attachment)
            self.mcp.redeliver(subscriber)

    def attach_now(self, subscriber: Subscriber, role: Role) -> None:
        """Attach a client that gets everything from now on."""
        self._add(Attachment(subscriber, role, self.history.seq))

    def _add(self, attachment: Attachment) -> None:
        connection = attachment.subscriber.connection
        if connection.is_open:
            self.attachments[connection] = attachment
            self._departure.client_joined()
        else:
            self._departure.client_left()

    def detach(self, connection: RelayConnection) -> None:
        """Remove a client."""
        if self.attachments.pop(connection, None) is not None:
            self.requests.withdraw(connection)
            self.mcp.disconnect(connection)
            self._departure.client_left()

    def _has_client(self, origin: str) -> bool:
        return any(each.subscriber.origin == origin for each in self.attachments.values())

    def check_drives(self, subscriber: Subscriber) -> None:
        """Raise `RequestFailed` unless a client may drive the session."""
        attachment = self.attachments.get(subscriber.connection)
        if attachment is None:
            raise NotFound(f"session {self.id} isn't open in this client; load or resume it first")
        if not attachment.can_drive:
            raise RequestFailed("you are watching this session; only a driver can do that", code=INVALID_REQUEST)

    # -- clients that leave

    @property
    def has_clients(self) -> bool:
        return bool(self.attachments)

    @property
    def has_drivers(self) -> bool:
        return any(each.can_drive for each in self.attachments.values())

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
        self.close_later()

    # -- prompts

    def prompt(self, subscriber: Subscriber, params: bytes, reply: Reply) -> None:
        """Run a client's prompt after the earlier ones."""
        if len(self.prompts) >= MAX_PROMPTS:
            raise RequestFailed(f"{MAX_PROMPTS} prompts wait in this session already; try again later")
        reply.save(self.id)
        self.prompts.add(Prompt(self.for_agent(params), subscriber.principal, subscriber.origin, reply))

    def run(self, prompt: Prompt, done: Callable[[Outcome], None]) -> None:
        """Log a prompt, and pass it to the agent once it is durable."""
        self._context.counters.turns += 1
        for update in self.dialect.prompt_updates(self.id, read_object(prompt.params)):
            by = b'"accord/by":%b' % encode(prompt.principal.name)
            self.publish("session/update", add_meta(update, by), origin=prompt.origin)
        self._context.commits.then(lambda _: self.agent.when_ready(partial(self._pass_on, prompt, done), done))

    def _pass_on(self, prompt: Prompt, done: Callable[[Outcome], None], process: AgentProcess) -> None:
        if prompt in self.prompts.running:  # otherwise it was cancelled while the agent was started
            source = (prompt.reply.connection, prompt.reply.id)
            prompt.agent_request = (process, process.relay("session/prompt", prompt.params, done, source))

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
        self.on_idle()

    def cancel(self, subscriber: Subscriber | None = None, params: bytes | None = None) -> None:
        """Cancel the running turn, and the queued prompts of the client that asked for it."""
        self.prompts.drop_queued(subscriber.origin if subscriber is not None else None)
        self._context.commits.then(self._send_cancel, params or write_object({"sessionId": self.id}))
        # After the notification: an agent that gets the answers first may end its turn as if it wasn't cancelled.
        self.requests.cancel_all()

    def _send_cancel(self, params: bytes) -> None:
        self.prompts.drop_unsent()
        if self.process is not None:
            self.process.connection.notify("session/cancel", self.for_agent(params))

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
            id = process.relay(method, sent, finish, (reply.connection, reply.id))
            reply.on_cancel = lambda: process.connection.cancel(id)

        self._context.commits.then(lambda _: self.agent.when_ready(send, reply.finish))

    def relay_notification(self, method: str, params: bytes) -> None:
        """Pass a notification of a client to the agent, if it runs."""
        if self.process is not None:
            notify = partial(self.process.connection.notify, method)
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
            log.warning("a message of an agent for the session of another agent was dropped")
            return
        if method == "session/update" and id == self.id:
            changed, usage = self.state.read_update(params)
            if usage != _NO_USAGE:
                self._count(usage, self.prompts.last.principal.name if self.prompts.last else self.record.owner)
            self.publish(method, params)
            if changed:
                self.touch()
            if not self.is_busy:
                self.on_idle()
        else:
            self.publish(method, params)

    def on_agent_request(self, id: RequestId, method: str, params: bytes) -> None:
        process = self.agent.asking
        if not self._is_ours(read_head(self._for_clients(params)).session_id):
            process.answer(id, fail("this session belongs to another agent process", INVALID_REQUEST))
            return
        if not self._context.settings.client_files and method.startswith(CLIENT_FILES):
            self._context.start(self._files.answer(process, id, method, params))
            return

        def resolve(outcome: Outcome) -> None:
            # In order with a `session/cancel` that the client has sent before.
            self._context.commits.then(partial(process.answer, id), outcome)

        last = self.prompts.last
        driver = last.origin if last is not None and self._has_client(last.origin) else None
        self.requests.add(
            method,
            self._for_clients(params),
            resolve,
            originator=self.originator,
            driver=driver,
            agent_id=id,
        )

    def _cancel_if_paused(self) -> None:
        if self._is_paused:
            self.cancel()

    def _is_ours(self, id: str | UnsetType) -> bool:
        """Return whether an agent's message is about this session or one of its subagents, and not about another."""
        if id is UNSET or id == self.id or id in self.subagents:
            return True
        if len(self.subagents) >= MAX_SUBAGENTS or self._context.has_session(id):
            return False
        self.subagents.add(id)
        self.on_subagent(id)
        return True

    def _note_subagent(self, params: bytes) -> None:
        """Claim the messages of a subagent, which is announced before it says anything."""
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
        self.on_idle()

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
        """Add what was used to the principal's budget."""
        tokens, cost = self.state.read_usage(usage)
        if tokens or cost:
            self._context.budgets.add(principal, tokens, cost, self._context.log)
            self._context.commits.touch()

    def touch(self) -> None:
        """Save the record: something about the session changed."""
        self.record.updated_at = time.time()
        self._context.log.save_session(self.record)
        self._context.commits.touch()

    async def close(self, ending: Ending = "close") -> None:
        """End the session's work and its agent process. The log keeps the session."""
        self._departure.close()
        self.prompts.drop_queued()
        self.requests.cancel_all()
        self.attachments.clear()
        self.mcp.close()
        await self._files.close()
        await self.agent.close(ending)

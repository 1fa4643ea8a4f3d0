"""The events of one session: append, replay, compact, and drop the oldest when there are too many."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress

import msgspec

from accord.errors import RequestFailed, StoreFailed
from accord.hub.attachment import Attachment
from accord.hub.compaction import Compactor
from accord.hub.context import Context
from accord.hub.event_log import Event, EventKind, SessionRecord
from accord.hub.raw_params import read_head, replace_fields, write_object

PAGE = 500
PAGE_BYTES = 1024 * 1024
"""The number of bytes that are read from the log at a time. Meanwhile, all other sessions wait."""
EVENT_OVERHEAD = 100
"""The size of an event in the log besides its params, in bytes."""
MIB = 1024 * 1024
STEP_BYTES = MIB
"""The number of bytes that are rewritten in one transaction."""

SendRequest = Callable[[Attachment, Event], None]
"""Sends the request of an event to a client, if it is still open."""


class SessionHistory:
    """A session's numbered events."""

    def __init__(self, context: Context, record: SessionRecord) -> None:
        self.seq: int = context.log.last_seq(record.id)
        """The number of the last event."""
        self.epoch: str = context.log.epoch
        self._context = context
        self._record = record
        self._replays = 0
        self._is_compacting = False
        self._is_closed = False
        self._compact_at = 0
        self._dropped_until = 0
        self._plan_compaction()

    @property
    def cursor(self) -> str:
        """The position after the last event."""
        return f"{self.epoch}.{self.seq}"

    def append(self, method: str, params: bytes, kind: EventKind, origin: str, request: str) -> Event:
        """Log an event. It is durable after the next commit."""
        event = Event(
            seq=self.seq + 1,
            kind=kind,
            method=method,
            params=params,
            recorded_at=time.time(),
            origin=origin,
            request=request,
        )
        self._log(event)
        return event

    def _log(self, event: Event) -> None:
        self.seq = event.seq
        self._context.log.append(self._record.id, event)
        self._context.counters.events += 1
        self._context.commits.touch()
        state = self._record.state
        state.seq = self.seq
        state.size += _size(event)
        # Compact even in the middle of a turn, which may never end.
        if self.seq >= self._compact_at or state.size > self._context.settings.max_session_bytes:
            self._start_compaction()

    def import_events(self, events: Iterable[Event], source_id: str) -> None:
        """Log the events of another session as this one's, with their own times."""
        for event in events:
            params = event.params
            if read_head(params).session_id == source_id:
                params = replace_fields(params, sessionId=self._record.id)
            self._log(msgspec.structs.replace(event, seq=self.seq + 1, params=params))

    async def read_uncounted(self) -> AsyncIterator[Event]:
        """Read the events since the record was saved, and count them."""
        state = self._record.state
        async for event in self.read(state.seq):
            yield event
            state.seq, state.size = event.seq, state.size + _size(event)

    async def read(self, after: int, until: int | None = None) -> AsyncIterator[Event]:
        """Read durable events, page by page. Other tasks can run between two pages."""
        while page := self._context.log.events(self._record.id, after, PAGE, PAGE_BYTES):
            for event in page:
                if until is not None and event.seq > until:
                    return
                yield event
            after = page[-1].seq
            await asyncio.sleep(0)

    def read_cursor(self, cursor: str) -> int | None:
        """Return the number of a cursor's event; None if events after it are compacted or unknown."""
        epoch, _, seq = cursor.rpartition(".")
        if epoch != self.epoch or not seq.isdecimal() or len(seq) > 18:
            return None
        return int(seq) if self._record.exact_from <= int(seq) <= self.seq else None

    async def replay(self, attachment: Attachment, after: int | None, send_request: SendRequest) -> None:
        """Send a client all events after a given one, at its own pace; None sends the whole history.

        A client that continues gets neither its own prompts nor any event twice. One that gets the whole history gets
        no notices about the past. When this returns, all durable events have been sent, and nothing may be awaited
        before the client is attached."""
        connection = attachment.subscriber.connection
        is_whole = after is None
        attachment.seq = after or 0
        self._replays += 1
        try:
            while page := self._context.log.events(self._record.id, attachment.seq, PAGE, PAGE_BYTES):
                for event in page:
                    if event.kind == "request":
                        attachment.seq = event.seq
                        send_request(attachment, event)
                    elif event.kind == "notification" if is_whole else event.origin != attachment.subscriber.origin:
                        attachment.send(event, self.epoch, is_replay=True)
                    else:
                        attachment.seq = event.seq
                    if connection.outbox.is_full:
                        await connection.outbox.wait_until_sent()
                await asyncio.sleep(0)
                self._context.commits.commit()
                if not connection.is_open:
                    raise RequestFailed("the client disconnected")
                if attachment.seq < self._dropped_until:
                    raise RequestFailed(
                        "the session's oldest events were dropped while they were being sent; open it again"
                    )
        finally:
            self._replays -= 1

    # -- the end

    def close(self) -> None:
        """Stop compaction. Otherwise it would continue beside that of the reopened session, or bring back a deleted
        one."""
        self._is_closed = True

    async def delete(self) -> None:
        """Delete all events, page by page, since a long history takes seconds to delete."""
        log, commits = self._context.log, self._context.commits
        while page := log.events(self._record.id, 0, PAGE, PAGE_BYTES):
            log.compact(self._record.id, (), page[-1].seq)
            commits.touch()
            commits.commit()  # only durable changes are read
            await asyncio.sleep(0)

    # -- compaction

    def _plan_compaction(self) -> None:
        self._compact_at = self._record.exact_from + 2 * self._context.settings.compact_after + 1

    def _start_compaction(self) -> None:
        if not self._is_compacting and not self._is_closed:
            self._is_compacting = True
            self._context.start(self._compact())

    async def _compact(self) -> None:
        """Compact all but the last events, and drop the oldest if that isn't enough."""
        settings, record = self._context.settings, self._record
        try:
            with suppress(StoreFailed):  # retried with the next events
                is_due = True
                while is_due:  # more events may have arrived in the meantime
                    self._context.commits.commit()  # only durable events can be read
                    is_joined = await self._join_events(record.exact_from, self.seq - settings.compact_after)
                    is_due = is_joined and self.seq >= self._compact_at
                if record.state.size > settings.max_session_bytes:
                    await self._drop_oldest(record.state.size - settings.max_session_bytes * 7 // 8)
        finally:
            self._is_compacting = False
            # Retried later if the history was being sent to a client.
            self._compact_at = max(self._compact_at, self.seq + settings.compact_after)

    async def _join_events(self, after: int, until: int) -> bool:
        """Replace the events between two positions with fewer, step by step, and return whether all were replaced.

        Events before that are already compacted."""
        while after < until:
            compactor, size, last = Compactor(), 0, until
            async for event in self.read(after, until):
                compactor.add(event)
                size += _size(event)
                if size >= STEP_BYTES:
                    last = event.seq
                    break
            if (
                not size or self._replays or self._is_closed
            ):  # a client would get a part of a message, and then all of it
                return False
            events = compactor.finish()
            self._replace(events, last, after, sum(map(_size, events)) - size)
            self._plan_compaction()
            after = last
            await asyncio.sleep(0)  # each step is a transaction; other tasks can run between two steps
        return True

    async def _drop_oldest(self, size: int) -> None:
        """Drop at least this many bytes of events, step by step, and leave a message about it."""
        until = dropped = left_by_us = 0
        async for event in self.read(0, self.seq - 1):
            if self._is_closed:
                return
            until, dropped = event.seq, dropped + _size(event)
            if dropped >= min(size, STEP_BYTES):
                size -= dropped
                left_by_us = self._drop(until, dropped + left_by_us)
                until = dropped = 0
                if size <= 0:
                    return
        if dropped and not self._is_closed:
            self._drop(until, dropped + left_by_us)

    def _drop(self, until: int, size: int) -> int:
        """Replace the events up to a position, which have this size, with a message. Returns its size."""
        words = f"The oldest part of this session was dropped: the server keeps {self._describe_limit()}.\n\n"
        update = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": "accord-dropped",
            "content": {"type": "text", "text": words},
        }
        params = write_object({"sessionId": self._record.id, "update": update})
        notice = Event(seq=until, kind="notification", method="session/update", params=params, recorded_at=time.time())
        self._dropped_until = until
        self._replace([notice], until, 0, _size(notice) - size)
        return _size(notice)

    def _describe_limit(self) -> str:
        size = self._context.settings.max_session_bytes
        return f"{size / MIB:.3g} MiB of each" if size >= MIB else f"{size} bytes of each"

    def _replace(self, events: list[Event], until: int, after: int, change: int) -> None:
        record = self._record
        self._context.log.compact(record.id, events, until, after)
        record.exact_from = max(record.exact_from, until)
        record.state.size += change
        self._context.log.save_session(record)
        self._context.commits.touch()


def _size(event: Event) -> int:
    """Return about how many bytes an event takes in the log."""
    return len(event.params) + EVENT_OVERHEAD

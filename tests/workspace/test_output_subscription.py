"""Subscriptions to a terminal, and updates about it: every byte once, in order, in few pieces."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript.update_builders import Telling

from accord.agent.offers import ClientOffers
from accord.agent.v1.updates import updates as updates_v1
from accord.agent.v2.updates import updates
from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus
from accord.workspace.output import (
    BLOCK_BYTES,
    Delta,
    OutputBuffer,
    OutputReporter,
    OutputSource,
    Subscription,
    report_output,
)
from accord.workspace.terminals import Terminals

DONE = ExitStatus(code=0)


class Command:
    """Something that prints when it is told to."""

    def __init__(self, **bounds: int) -> None:
        self.source = OutputSource(OutputBuffer(0, **bounds))

    def prints(self, data: bytes) -> None:
        self.source.output.feed(data)
        self.source.notify()

    def closes(self) -> None:
        self.source.output.finish()
        self.source.notify()

    def exits(self, exit: ExitStatus = DONE) -> None:
        self.source.exit = exit
        self.source.notify()

    def ends(self) -> None:
        self.closes()
        self.exits()


async def all_of(watcher: Subscription) -> list[Delta]:
    return [delta async for delta in watcher]


async def test_a_watcher_gets_what_is_new_and_nothing_twice() -> None:
    command = Command()
    watcher = Subscription(command.source)
    command.prints(b"one")
    assert await anext(watcher) == Delta(b"one")
    waiting = asyncio.ensure_future(anext(watcher))
    await asyncio.sleep(0)
    command.prints(b"two")
    assert await waiting == Delta(b"two")
    command.ends()

    assert await all_of(watcher) == [Delta(b"", 0, DONE)]


async def test_one_that_comes_late_gets_all_in_one_piece_and_then_what_is_new() -> None:
    command = Command()
    for number in range(100):
        command.prints(b"%d\n" % number)
    watcher = Subscription(command.source)
    first = await anext(watcher)
    command.prints(b"new")

    assert first.data == b"".join(b"%d\n" % number for number in range(100))
    assert await anext(watcher) == Delta(b"new")


async def test_one_that_is_slow_gets_what_came_meanwhile_in_one_piece() -> None:
    command = Command()
    watcher = Subscription(command.source)
    for _ in range(1000):
        command.prints(b"abc")
    command.ends()

    assert await all_of(watcher) == [Delta(b"abc" * 1000, 0, DONE)]


async def test_a_slow_subscriber_gets_the_number_of_missed_bytes() -> None:
    command = Command(ceiling=BLOCK_BYTES)
    watcher = Subscription(command.source)
    command.prints(b"begin")
    assert (await anext(watcher)).data == b"begin"
    for _ in range(4):
        command.prints(b"x" * BLOCK_BYTES)
    command.prints(b"end")
    delta = await anext(watcher)

    assert delta.data.endswith(b"xend")
    assert len(b"begin") + delta.skipped + len(delta.data) == command.source.output.end
    command.prints(b"more")
    assert await anext(watcher) == Delta(b"more")


async def test_many_watch_at_their_own_pace() -> None:
    command = Command()
    watchers = [asyncio.ensure_future(all_of(Subscription(command.source))) for _ in range(5)]
    for number in range(20):
        command.prints(b"%d " % number)
        for _ in range(number % 3):
            await asyncio.sleep(0)
    command.ends()

    for deltas in await asyncio.gather(*watchers):
        assert b"".join(delta.data for delta in deltas) == b"".join(b"%d " % number for number in range(20))
        assert [delta.exit for delta in deltas if delta.exit is not None] == [DONE]


async def test_the_exit_is_reported_even_if_others_hold_the_output_open() -> None:
    command = Command()
    watcher = Subscription(command.source)
    command.prints(b"up\n")
    command.exits(ExitStatus(code=0))
    assert await anext(watcher) == Delta(b"up\n", 0, DONE)
    command.prints(b"from the background\n")
    assert await anext(watcher) == Delta(b"from the background\n")
    command.closes()

    assert await all_of(watcher) == []


async def test_a_command_that_closed_its_output_is_watched_until_it_ends() -> None:
    command = Command()
    watching = asyncio.ensure_future(all_of(Subscription(command.source)))
    command.closes()
    await asyncio.sleep(0)
    assert not watching.done()
    command.exits()

    assert await watching == [Delta(b"", 0, DONE)]


async def test_a_watcher_whose_wait_is_cancelled_misses_nothing() -> None:
    command = Command()
    watcher = Subscription(command.source)
    waiting = asyncio.ensure_future(anext(watcher))
    await asyncio.sleep(0)
    command.prints(b"kept")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await anext(watcher) == Delta(b"kept")


async def test_as_text_characters_are_whole_wherever_the_pieces_end() -> None:
    command = Command()
    texts = []

    async def read() -> None:
        async for text in Subscription(command.source).texts():
            texts.append(text)  # noqa: PERF401  # one piece at a time

    reading = asyncio.ensure_future(read())
    for byte in "é漢🙂\n".encode() + b"\xf0\x9f":
        command.prints(bytes([byte]))
        await asyncio.sleep(0)
    command.ends()
    await reading

    assert texts == ["é", "漢", "🙂", "\n", "\ufffd"]


async def test_as_text_half_a_character_before_a_gap_spoils_nothing_after_it() -> None:
    command = Command(ceiling=BLOCK_BYTES)
    texts = Subscription(command.source).texts()
    command.prints(b"a\xf0\x9f")
    assert await anext(texts) == "a"
    command.prints(b"\x99\x82")
    for _ in range(4):
        command.prints(b"x" * BLOCK_BYTES)

    assert await anext(texts) == "x" * BLOCK_BYTES


# -- Updates


def test_small_pieces_wait_for_each_other_but_not_for_long() -> None:
    display = OutputReporter("t", enough_bytes=100, enough_seconds=0.05)

    assert display.due() is None
    assert display.take(Delta(b"a"), now=1.0) == []
    assert display.due() == pytest.approx(1.05)
    assert display.take(Delta(b"b"), now=1.04) == []
    assert display.take(Delta(b"c"), now=1.05) == [TerminalData(id="t", data=b"abc")]
    assert display.due() is None
    assert display.take(Delta(b"d"), now=1.06) == []
    assert display.flush() == [TerminalData(id="t", data=b"d")]
    assert display.flush() == []


def test_enough_bytes_do_not_wait_and_too_many_are_divided() -> None:
    display = OutputReporter("t", enough_bytes=4, most_bytes=5)

    assert display.take(Delta(b"0123"), now=0.0) == [TerminalData(id="t", data=b"0123")]
    assert display.take(Delta(b"0123456789ab"), now=0.0) == [
        TerminalData(id="t", data=b"01234"),
        TerminalData(id="t", data=b"56789"),
        TerminalData(id="t", data=b"ab"),
    ]


def test_the_end_comes_after_the_last_bytes() -> None:
    display = OutputReporter("t")
    display.take(Delta(b"a"), now=0.0)

    assert display.take(Delta(b"b", 0, ExitStatus(signal="SIGTERM")), now=0.0) == [
        TerminalData(id="t", data=b"ab"),
        TerminalPatch(id="t", exit=ExitStatus(signal="SIGTERM"), can_cancel=False),
    ]


@given(st.lists(st.binary(max_size=30)), st.integers(1, 40), st.integers(1, 20))
def test_every_byte_is_reported_once_and_in_order(pieces: list[bytes], enough: int, most: int) -> None:
    display = OutputReporter("t", enough_bytes=enough, most_bytes=most)
    told: list[Any] = []
    for now, piece in enumerate(pieces):
        told += display.take(Delta(piece), now=now / 100)
    told += display.on_exit(DONE)

    data = [statement.data for statement in told if isinstance(statement, TerminalData)]
    assert b"".join(data) == b"".join(pieces)
    assert all(0 < len(each) <= most for each in data)
    assert len(data) <= len(pieces) + sum(map(len, pieces)) // most


def render_terminal(*statements: Any) -> Any:
    """Return the terminal as a version 2 client sees it."""
    telling = Telling(2)
    for statement in statements:
        for update in updates(statement, unstable=False):
            telling.tell(msgspec.json.decode(msgspec.json.encode(update)))
    return telling.transcript.terminals["t"]


@pytest.mark.req("V2-TERM-06", "V2-TERM-07")
def test_a_client_puts_the_same_bytes_together_wherever_they_were_divided() -> None:
    whole = ("é漢🙂\x1b[31mred\x1b[0m\n" * 50).encode() + b"\xff\x00"
    for most in (1, 2, 3, 7, 100):
        display = OutputReporter("t", enough_bytes=5, most_bytes=most)
        terminal = render_terminal(
            *display.take(Delta(whole[:333]), now=0.0), *display.take(Delta(whole[333:]), now=0.0)
        )

        assert terminal.output == whole
        assert terminal.text == whole.decode("utf-8", "replace")


@pytest.mark.req("V2-TERM-05")
def test_after_a_gap_the_kept_output_replaces_the_reported_output() -> None:
    display = OutputReporter("t", enough_bytes=1, most_bytes=4)
    before = display.take(Delta(b"old old old"), now=0.0)
    after = display.take(Delta(b"the newest", skipped=1000), now=0.0)

    assert after[0] == TerminalPatch(id="t", output=b"the ")
    assert render_terminal(*before, *after).output == b"the newest"

    patient = OutputReporter("t", most_bytes=4)
    assert patient.take(Delta(b"waits"), now=0.0) == []
    assert render_terminal(*patient.take(Delta(b"the newest", skipped=1000), now=0.0)).output == b"the newest"


def test_in_version_1_a_gap_leaves_what_is_kept_as_well() -> None:
    terminals: dict[str, list[bytes]] = {}
    display = OutputReporter("t", enough_bytes=1, most_bytes=4)
    told = [*display.take(Delta(b"old"), now=0.0), *display.take(Delta(b"the newest", skipped=1000), now=0.0)]
    for statement in told:
        assert list(updates_v1(statement, ClientOffers(version=1), terminals)) == []

    assert b"".join(terminals["t"]) == b"the newest"


@pytest.mark.req("V2-TERM-08")
@pytest.mark.parametrize("exit", [ExitStatus(code=0), ExitStatus(code=3), ExitStatus(signal="SIGKILL"), ExitStatus()])
def test_a_client_sees_how_the_command_ended(exit: ExitStatus) -> None:
    assert render_terminal(*OutputReporter("t").on_exit(exit)).exit == exit


async def test_a_terminal_is_reported_to_its_end_with_fewer_updates_for_a_slow_client() -> None:
    command = Command()
    told: list[Any] = []
    goes_on = asyncio.Event()

    async def say(statement: Any) -> None:
        told.append(statement)
        await goes_on.wait()

    showing = asyncio.ensure_future(
        report_output(Subscription(command.source), OutputReporter("t", enough_bytes=1), say, clock=lambda: 0.0)
    )
    for number in range(1000):
        command.prints(b"%d\n" % number)
        await asyncio.sleep(0)
    goes_on.set()
    command.ends()
    await showing

    assert len(told) == 3
    assert render_terminal(*told).output == b"".join(b"%d\n" % number for number in range(1000))
    assert render_terminal(*told).exit == DONE


async def test_output_of_background_processes_is_reported_too() -> None:
    command = Command()
    told: list[Any] = []

    async def say(statement: Any) -> None:
        told.append(statement)
        if isinstance(statement, TerminalPatch):
            command.prints(b"later")
            command.closes()

    command.exits()
    await report_output(Subscription(command.source), OutputReporter("t", enough_seconds=60.0), say)

    assert told == [TerminalPatch(id="t", exit=DONE, can_cancel=False), TerminalData(id="t", data=b"later")]


async def test_waiting_output_is_reported_when_its_time_is_up() -> None:
    command = Command()
    told: asyncio.Queue[Any] = asyncio.Queue()
    now = 0.0
    showing = asyncio.ensure_future(
        report_output(
            Subscription(command.source), OutputReporter("t", enough_seconds=0.001), told.put, clock=lambda: now
        )
    )
    command.prints(b"prompt> ")

    assert await told.get() == TerminalData(id="t", data=b"prompt> ")
    command.ends()
    await showing


async def test_listeners_are_called_at_once_for_output_and_exit() -> None:
    terminals = Terminals()
    heard: list[tuple[str, str, ExitStatus | None]] = []
    stop = terminals.on_change(lambda each: heard.append((each.id, each.output.text(), each.exit)))
    try:
        id = await terminals.create("s", "echo one; echo two", cwd="/")
        await terminals.wait_for_exit(id)
        stop()
        later = await terminals.create("s", "echo three", cwd="/")
        await terminals.wait_for_exit(later)
    finally:
        await terminals.close()

    assert {each for each, _, _ in heard} == {id}
    assert any(text == "one\ntwo\n" for _, text, _ in heard)
    assert heard[-1][2] == ExitStatus(code=0)


async def test_the_last_of_much_output_can_be_had_alone() -> None:
    terminals = Terminals()
    try:
        id = await terminals.create("s", "seq 1 1000", cwd="/")
        await terminals.wait_for_exit(id)
        end, whole = terminals.read_output(id, 20), terminals.read_output(id, 1_000_000)
    finally:
        await terminals.close()

    assert (end.text, end.truncated) == ("996\n997\n998\n999\n1000\n"[-20:], True)
    assert whole.text.startswith("1\n2\n")
    assert not whole.truncated

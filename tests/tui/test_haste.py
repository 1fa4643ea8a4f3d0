"""What a client takes of the process it runs in, and gives back: nothing of it stays when it has ended."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import weakref
from collections.abc import Iterator

import pytest
from chatting import Opened

from accord.testing import ScriptedAgent
from accord.tui.haste import SWITCH, Haste


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Nothing is kept from the collector before and after a test, which runs as all do."""
    was_enabled, interval = gc.isenabled(), sys.getswitchinterval()
    gc.unfreeze()
    yield
    gc.unfreeze()
    (gc.enable if was_enabled else gc.disable)()
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("was_enabled", [True, False])
def test_what_was_set_is_as_it_was_afterwards(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    sys.setswitchinterval(0.02)
    haste = Haste()
    haste.begin()
    assert gc.isenabled() and gc.get_freeze_count() > 0
    assert sys.getswitchinterval() == pytest.approx(SWITCH)
    haste.end()
    assert gc.isenabled() == was_enabled
    assert gc.get_freeze_count() == 0
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_it_is_taken_once_and_given_back_once() -> None:
    haste = Haste()
    haste.end()
    haste.begin()
    haste.begin()
    haste.end()
    assert gc.get_freeze_count() == 0
    sys.setswitchinterval(0.03)
    haste.end()
    assert sys.getswitchinterval() == pytest.approx(0.03)


def test_what_others_keep_from_the_collector_stays_kept() -> None:
    gc.freeze()
    kept = gc.get_freeze_count()
    haste = Haste()
    haste.begin()
    haste.end()
    assert gc.get_freeze_count() == pytest.approx(kept, rel=0.01)  # some of it may have gone by itself


async def test_signals_do_what_they_did_before_a_client_that_took_them_by_itself(opened: Opened) -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with opened(ScriptedAgent()):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


async def test_signals_that_somebody_else_took_since_are_left_to_them(opened: Opened) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def theirs(number: int, frame: object) -> None: ...

    try:
        async with opened(ScriptedAgent()):
            signal.signal(signal.SIGTERM, theirs)
        assert signal.getsignal(signal.SIGTERM) is theirs
    finally:
        signal.signal(signal.SIGTERM, before)


async def _seen(opened: Opened) -> list[weakref.ref[object]]:
    async with opened(ScriptedAgent(["hello there"])) as chat:
        await chat.send("hi")
        await chat.until("hello there")
        assert gc.get_freeze_count() > 0
        session = chat.pane.talk.session
        assert session is not None
        return [weakref.ref(each) for each in (chat.app, chat.pane, chat.pane.conversation._styles_cache, session)]


def test_nothing_of_a_client_that_has_ended_stays(opened: Opened) -> None:
    seen = asyncio.run(_seen(opened))
    assert gc.get_freeze_count() == 0
    for _ in range(3):
        gc.collect()
    assert [each() for each in seen] == [None] * 4

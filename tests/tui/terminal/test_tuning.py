"""Process-wide settings of the client are restored when it exits."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import weakref
from collections.abc import Iterator

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui.terminal.tuning import SWITCH, ProcessTuning


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Unfreeze the garbage collector before and after each test."""
    was_enabled, interval = gc.isenabled(), sys.getswitchinterval()
    gc.unfreeze()
    yield
    gc.unfreeze()
    (gc.enable if was_enabled else gc.disable)()
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("was_enabled", [True, False])
def test_all_settings_are_restored_afterwards(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    sys.setswitchinterval(0.02)
    haste = ProcessTuning()
    haste.begin()
    assert gc.isenabled() and gc.get_freeze_count() > 0
    assert sys.getswitchinterval() == pytest.approx(SWITCH)
    haste.end()
    assert gc.isenabled() == was_enabled
    assert gc.get_freeze_count() == 0
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_tuning_is_applied_once_and_undone_once() -> None:
    haste = ProcessTuning()
    haste.end()
    haste.begin()
    haste.begin()
    haste.end()
    assert gc.get_freeze_count() == 0
    sys.setswitchinterval(0.03)
    haste.end()
    assert sys.getswitchinterval() == pytest.approx(0.03)


def test_objects_frozen_by_other_code_stay_frozen() -> None:
    gc.freeze()
    kept = gc.get_freeze_count()
    haste = ProcessTuning()
    haste.begin()
    haste.end()
    assert gc.get_freeze_count() == pytest.approx(kept, rel=0.01)  # some of it may have gone by itself


async def test_signal_handlers_are_restored_after_a_client_installed_its_own(opened: Opened) -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with opened(ScriptedAgent()):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


async def test_signal_handlers_installed_later_are_kept(opened: Opened) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def other_handler(number: int, frame: object) -> None: ...

    try:
        async with opened(ScriptedAgent()):
            signal.signal(signal.SIGTERM, other_handler)
        assert signal.getsignal(signal.SIGTERM) is other_handler
    finally:
        signal.signal(signal.SIGTERM, before)


async def _seen(opened: Opened) -> list[weakref.ref[object]]:
    async with opened(ScriptedAgent(["hello there"])) as chat:
        await chat.send("hi")
        await chat.until("hello there")
        assert gc.get_freeze_count() > 0
        session = chat.tab.controller.session
        assert session is not None
        return [weakref.ref(each) for each in (chat.app, chat.tab, chat.tab.transcript_view._styles_cache, session)]


def test_an_exited_client_leaves_nothing_in_memory(opened: Opened) -> None:
    seen = asyncio.run(_seen(opened))
    assert gc.get_freeze_count() == 0
    for _ in range(3):
        gc.collect()
    assert [each() for each in seen] == [None] * 4

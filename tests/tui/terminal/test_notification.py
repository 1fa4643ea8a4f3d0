"""Notifications when the window has no focus, and the window title."""

from __future__ import annotations

import json
import time

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui import preferences
from accord.tui.terminal.notification import AWAY_SECONDS, Attention, wrap_for_multiplexer


class Terminal:
    """Records what is written to it."""

    def __init__(self, **env: str) -> None:
        self.written = ""
        self.attention = Attention(self._write, env)

    def _write(self, sequence: str) -> None:
        self.written += sequence


def test_focus_events_tell_whether_the_user_is_present() -> None:
    attention = Terminal().attention
    attention.set_focus(False)
    attention.last_key = time.monotonic()
    assert not attention.is_here
    attention.set_focus(True)
    attention.last_key = 0.0
    assert attention.is_here


def test_without_focus_events_a_user_who_does_not_type_counts_as_away() -> None:
    attention = Terminal().attention
    attention.last_key = time.monotonic()
    assert attention.is_here
    attention.last_key = time.monotonic() - AWAY_SECONDS - 1
    assert not attention.is_here


@pytest.mark.parametrize(
    ("way", "written"), [("off", ""), ("bell", "\a"), ("notification", "\x1b]9;Accord: done\x1b\\\a")]
)
def test_the_user_is_notified_as_configured(way: str, written: str) -> None:
    terminal = Terminal()
    terminal.attention.call("done", way)
    assert terminal.written == written


def test_notifications_are_wrapped_for_multiplexers() -> None:
    assert wrap_for_multiplexer("\x1b]9;x\x1b\\", {"TMUX": "yes"}) == "\x1bPtmux;\x1b\x1b]9;x\x1b\x1b\\\x1b\\"
    assert wrap_for_multiplexer("\x1b]9;x\x1b\\", {"STY": "yes"}) == "\x1bP\x1b]9;x\a\x1b\\"


def test_a_notification_inside_screen_is_short_and_has_one_terminator() -> None:
    terminal = Terminal(STY="1.pts")
    terminal.attention.call("\U0001f350" * 500, "notification")
    assert terminal.written.count("\x1b\\") == 1 and terminal.written.endswith("\a\x1b\\\a")
    assert len(terminal.written.encode()) < 768


def test_agent_text_cannot_end_the_notification_sequence() -> None:
    terminal = Terminal()
    terminal.attention.call("a\x1b\\\x1b[2J\a\x9cb", "notification")
    assert terminal.written.count("\x1b") == 2 and terminal.written.count("\a") == 1 and "\x9c" not in terminal.written


def test_the_window_title_is_saved_once_changed_and_restored() -> None:
    terminal = Terminal(TERM="xterm")
    for state in ("running", "running", "idle"):
        terminal.attention.set_title(state, "Pears")
    assert terminal.written == "\x1b[22;2t\x1b]2;◐ Pears – accord\x1b\\\x1b]2;Pears – accord\x1b\\"
    terminal.written = ""
    terminal.attention.restore_title()
    terminal.attention.restore_title()
    assert terminal.written == "\x1b]2;\x1b\\\x1b[23;2t"


def test_a_console_without_titles_gets_none() -> None:
    terminal = Terminal(TERM="linux")
    terminal.attention.set_title("idle", "Pears")
    terminal.attention.restore_title()
    assert terminal.written == ""


@pytest.mark.parametrize(("before", "now"), [(True, "notification"), (False, "off"), ("bell", "bell")])
def test_settings_of_earlier_versions_still_apply(folders: object, before: object, now: str) -> None:
    path = preferences.preferences_file()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"notify": before}))
    assert preferences.load().notify == now


async def test_the_notification_method_is_chosen_in_the_settings(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        await chat.press("f10")
        await chat.until("When you're away: notification")
        await chat.type("away")
        await chat.gone("Theme:")
        await chat.press("enter")
        await chat.until("✓ notification")
        await chat.press("up", "enter")
        await chat.until("When you're away: bell")
        assert preferences.load().notify == "bell"

"""Alt key combinations as terminals send them: in one burst, or with pauses."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key, Paste

from accord.testing import ScriptedAgent
from accord.tui.terminal.keyboard import ChordParser, install_chord_parser


def keys(*parts: str) -> list[str]:
    """Return the keys parsed from terminal input, with a pause after each part."""
    parser = ChordParser()
    found = []
    for part in parts:
        found += [*parser.feed(part)]
        if parser._timeout_time is not None:
            parser._timeout_time = 0.0
        found += [*parser.tick()]
    return [each.key if isinstance(each, Key) else each.text for each in found if isinstance(each, (Key, Paste))]


@pytest.mark.parametrize(
    ("sent", "pressed"),
    [
        ("\x1bw\x1bw", ["alt+w", "alt+w"]),
        ("\x1bh\x1b", ["alt+h", "escape"]),
        ("\x1bhx", ["alt+h", "x"]),
        ("\x1bh\x1b[A\x1bp", ["alt+h", "up", "alt+p"]),
        ("\x1bf\x1bb", ["ctrl+right", "ctrl+left"]),
        ("\x1b\x1b", ["escape", "escape"]),
        ("\x1bOP\x1b[1;3A", ["f1", "alt+up"]),
        ("\x1bP", ["alt+shift+p"]),
        ("\x1b[200~a w b\x1b[201~\x1bw", ["a w b", "alt+w"]),
    ],
)
def test_keys_in_one_burst_are_recognized(sent: str, pressed: list[str]) -> None:
    assert keys(sent) == pressed


def test_a_pause_within_a_chord_makes_two_keys() -> None:
    assert keys("\x1b", "w") == ["escape", "w"]


async def test_the_client_uses_the_chord_parser(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_driver, "XTermParser", XTermParser)
    install_chord_parser(HeadlessDriver)  # one that reads no terminal is left alone
    assert linux_driver.XTermParser is XTermParser
    async with opened(ScriptedAgent()) as chat:
        assert chat.app.driver_class is linux_driver.LinuxDriver
        assert linux_driver.XTermParser is ChordParser

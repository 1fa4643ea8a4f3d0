"""Random keys, clicks and window sizes never crash the client."""

from __future__ import annotations

import random

import pytest
from support.tui_driver import Opened

from accord.showcase.agent import Showcase

pytestmark = pytest.mark.slow

STEPS = 80
LETTERS = "abc/@?yn123eofxjk"
KEYS = """
    enter enter tab shift+tab escape up down left right pageup pagedown home end backspace delete space
    ctrl+n ctrl+t ctrl+o ctrl+g ctrl+l ctrl+p ctrl+r ctrl+s ctrl+j ctrl+u ctrl+x ctrl+home ctrl+end shift+up shift+down
    alt+up alt+r alt+d alt+f alt+p alt+b alt+h f1 f2 f3 f5 f6 f7 f8 f9 f10 f12
"""
"""All but those that end or suspend it, or start an editor."""
PROMPTS = """
    tools diff permission elicit plan usage markdown thoughts image slow terminal subagent notice compaction unknown
    auth error files title
"""


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_client_is_usable_after_random_input(opened: Opened, seed: int) -> None:
    chance = random.Random(seed)
    async with opened(Showcase, versions=(1, 2) if seed % 2 else (1,), size=(80, 24)) as chat:
        for _ in range(STEPS):
            roll = chance.random()
            if roll < 0.1 and chat.app.screen is chat.app.screen_stack[0]:
                await chat.send(f"/{chance.choice(PROMPTS.split())}")
            elif roll < 0.2:
                width, height = chat.app.size
                place = (chance.randrange(width), chance.randrange(height))
                await chat.pilot.click(offset=place, times=chance.choice((1, 1, 2, 3)))
            elif roll < 0.23:
                await chat.pilot.resize_terminal(chance.choice((20, 40, 80, 170)), chance.choice((6, 10, 24, 40)))
            else:
                await chat.press(chance.choice(KEYS.split() if chance.random() < 0.7 else LETTERS))
        await chat.pilot.resize_terminal(100, 40)
        for _ in range(20):  # out of whatever is open, and what it led to
            await chat.press("escape")
        while len(chat.app.screen_stack) > 1 or chat.tab.controller.permissions:  # a prompt may lead to more, later
            await chat.press("escape")
        chat.tab.editor.focus()
        chat.tab.editor.set_text("")
        await chat.type("still here")
        await chat.until("│ still here")

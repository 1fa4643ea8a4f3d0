"""The name of an agent: its own title once known, sanitized, and the same everywhere. The log shows its command."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.tui_driver import Chat, Memory

from accord.agent.turn import Turn
from accord.coder.agent import Coder
from accord.config.command import BUILT_IN
from accord.model.requests import AuthMethod
from accord.store.base import Page
from accord.testing import ScriptedAgent
from accord.tui.agent.names import display_name
from accord.tui.app import AccordApp
from accord.tui.greeting import _shorten

COMMAND = "python3 agents/wombat.py"


class Titled(ScriptedAgent):
    name = "wombat"
    title = "Wombat\n\x1b]0;mine\x07 the Wise"


class Untitled(ScriptedAgent):
    name = "wombat"


class BuiltIn(ScriptedAgent):
    """Introduces itself as the built-in agent does."""

    name, title = Coder.name, Coder.title


@pytest.mark.parametrize(
    ("agent", "target", "shown"),
    [
        (Titled, COMMAND, "Wombat ␛]0;mine␇ the Wise"),
        (Untitled, COMMAND, "wombat"),
        (Untitled, "digger", "digger"),
        (BuiltIn, "python3 -m accord agent", "built-in agent"),
        (BuiltIn, "mine", "mine"),
    ],
)
async def test_tabs_and_the_window_name_the_agent_by_its_title(
    folders: Path, agent: type[ScriptedAgent], target: str, shown: str
) -> None:
    app = AccordApp(Memory(folders, agent(), frozenset({1})), target)
    async with app.run_test(size=(120, 24)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        assert chat.tab.controller.title == shown
        await chat.app.action_new_session()
        await chat.until(lambda: f"1   {shown}" in chat.lines[1])
        await chat.press("ctrl+l")
        whose = f"{shown} ({target})" if " " in target else shown
        await chat.until(f"Log of {whose}: everything")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("digger", "digger"),
        (BUILT_IN, "built-in agent"),
        ("/usr/bin/python3 /home/ada/agents/wombat.py --deep", "python3 wombat.py --deep"),
        ("./wombat --in=/srv/x https://example.com/a", "wombat --in=/srv/x https://example.com/a"),
        ("bin/ 'odd", "bin 'odd"),
    ],
)
def test_until_its_title_is_known_an_agent_has_its_configured_name_or_that_of_its_command(
    target: str, name: str
) -> None:
    assert display_name(target) == name


class Everywhere(ScriptedAgent):
    """An agent whose own title differs from its configured name."""

    name = "wombat"
    title = "Wombat"
    version = "3"

    async def prompt(self, turn: Turn) -> None:
        await turn.ask("How many?", {"type": "object", "properties": {"n": {"type": "integer"}}})

    async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
        return Page([])


class Standing(Memory):
    """A host with a default agent."""

    def __init__(self, cwd: Path, default: str) -> None:
        super().__init__(cwd, Everywhere(), frozenset({1}))
        self.default = default

    def resolve_name(self, target: str | None) -> str:
        return target or self.default


@pytest.mark.parametrize("target", [None, "given"])
@pytest.mark.parametrize(
    ("meant", "shown"), [(BUILT_IN, "built-in agent"), ("digger", "Wombat"), ("./x/digger --acp", "Wombat")]
)
async def test_an_agent_has_the_same_name_everywhere(folders: Path, target: str | None, meant: str, shown: str) -> None:
    app = AccordApp(Standing(folders, meant), meant if target else None)
    async with app.run_test(size=(120, 24)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.until(f"\n  {shown}")  # the welcome
        assert chat.lines[0].startswith(f" ◆ Accord · {shown} · ~/project")
        await chat.press("ctrl+o")
        await chat.until(f"Sessions of {shown}")
        await chat.press("escape")
        await chat.send("go")
        await chat.until(f"{shown} asks")
        await chat.until("ctrl+s send")
        await chat.press("escape")
        process = chat.tab.controller.process
        methods = [AuthMethod(id="key", name="A key")]
        choosing = asyncio.ensure_future(app.questions.choose_login(process, methods))
        await chat.until(f"{shown} requires a login.")
        choosing.cancel()


def test_the_home_directory_is_abbreviated_as_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [_shorten(tmp_path), _shorten(tmp_path / "a"), _shorten(Path("/"))] == ["~", "~/a", "/"]

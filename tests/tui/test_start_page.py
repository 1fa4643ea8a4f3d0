"""The start page: listing, choosing, saving and installing agents."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from config.archives import binary, entry, registry
from support.tui_driver import Chat, Memory

from accord.cli.support.host import TuiHost
from accord.config.settings import user_config
from accord.errors import ConfigError
from accord.model.session import SessionInfo
from accord.store.sqlite import SqliteStore
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp
from accord.tui.panels.status import Part, drop_to_fit
from accord.tui.screens.picker import Row


def configure(text: str) -> None:
    path = user_config()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


TWO = '[agents.one]\ncommand = "one --acp"\n[agents.two]\ncommand = "two --acp"\n'


async def test_with_several_agents_and_no_default_the_start_page_comes_first(folders: Path) -> None:
    configure(TWO)
    host = Memory(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(host, is_undecided=True).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("Start an agent")
        for words in ("Welcome to Accord", "one --acp", "two --acp", "built-in agent", "f3 doctor", "esc back"):
            await chat.until(words)
        assert host.launched == []
        await chat.press("escape")
        await chat.until("no agent yet")
        await chat.until("ctrl+n choose one")
        await chat.type("kept")
        await chat.press("ctrl+n")
        await chat.until("Start an agent")
        await chat.press("down", "enter")
        await chat.ready()
        assert host.launched == ["two"]
        assert len(chat.app.tabs) == 1 and chat.tab.editor.text == "kept"


async def test_a_saved_command_line_does_not_become_the_default(folders: Path) -> None:
    host = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        for name in ("first", "second"):
            await chat.press("ctrl+n")
            await chat.until("Start an agent")
            await chat.type(f"{name} --acp")
            await chat.until(f"Start: {name} --acp")
            await chat.press("f5")
            await chat.until("A name for")
            await chat.type(name)
            await chat.press("enter")
            await chat.until(lambda name=name: host.launched[-1] == name)
        settings = host.configuration().settings
        assert set(settings.agents) == {"first", "second"}
        assert settings.chosen_agent == "built-in"


async def test_an_invalid_name_is_asked_for_again_and_esc_returns(folders: Path) -> None:
    host = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        await chat.press("ctrl+n")
        await chat.until("Start an agent")
        await chat.type("mine --acp")
        await chat.until("Start: mine --acp")
        await chat.press("f5")
        await chat.until("A name for")
        await chat.type("no good")
        await chat.press("enter")
        await chat.until(lambda: [each.severity for each in chat.notifications] == ["error"])
        await chat.until("A name for")
        assert host.launched == [None] and host.configuration().settings.agents == {}
        await chat.press("escape")
        await chat.gone("A name for")
        await chat.until("Start an agent")
        assert host.launched == [None]


async def test_the_default_agent_can_be_changed(folders: Path) -> None:
    configure(TWO)
    host = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(100, 30)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        await chat.press("ctrl+n")
        await chat.until("Start an agent")
        await chat.press("down", "f6")
        await chat.until("✓ two")
        assert host.configuration().settings.chosen_agent == "two"


class Keeping(Memory):
    """An agent with earlier sessions."""

    present: Sequence[SessionInfo] = ()

    def recent(self, most: int) -> list[SessionInfo]:
        return [
            *self.present,
            SessionInfo(id="old", cwd=str(self.cwd), title="Pears and figs", updated_at="2020-11-15T09:30:00Z"),
        ]


async def test_a_session_that_is_already_open_is_not_opened_again(folders: Path) -> None:
    host = Keeping(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        here = chat.tab.controller.session
        assert here is not None
        host.present = [SessionInfo(id=here.id, cwd=str(folders), title="The present one")]
        await chat.press("ctrl+n")
        await chat.until("Pears and figs")
        assert "The present one" not in chat.text


class Installing(Memory):
    """Well-known agents have to be installed."""

    installed: Sequence[str] = ()

    def describe_install(self, target: str) -> str:
        return f"{target} comes from npm" if target == "claude" and target not in self.installed else ""

    def install(self, target: str, progress: Callable[..., None]) -> None:
        progress(f"installing {target}", 0, 0)
        self.installed = [*self.installed, target]


async def test_well_known_agents_are_listed_by_name(folders: Path) -> None:
    configure('[agents.codex]\ncommand = "my-codex"\n')
    async with AccordApp(Installing(folders, ScriptedAgent(), frozenset({1})), is_undecided=True).run_test() as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("Well-known agents")
        await chat.until("Claude Code")
        await chat.until("not installed")
        assert "OpenAI" not in chat.text, "a configured agent takes the place of the well-known one"
        assert "registry" not in chat.text.lower()


async def test_a_well_known_agent_is_installed_after_one_question(folders: Path) -> None:
    host = Installing(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(100, 30)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        for answer in ("escape", "enter"):
            await chat.send("/agent claude")
            await chat.until("Install claude?")
            await chat.until("claude comes from npm")
            assert host.installed == ()
            await chat.press(answer)
            await chat.gone("Install claude?")
        await chat.until(lambda: len(chat.app.tabs) == 2)
        await chat.ready()
        assert list(host.installed) == ["claude"]
        assert host.launched == [None, "claude"]
        await chat.send("/agent claude")
        await chat.until(lambda: len(chat.app.tabs) == 3)
        assert list(host.installed) == ["claude"]


async def test_the_latest_sessions_can_be_continued(folders: Path) -> None:
    agent = ScriptedAgent()
    host = Keeping(folders, agent, frozenset({1}))
    async with AccordApp(host, is_undecided=True).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("Pears and figs  2020-11-15")
        await chat.type("figs")
        await chat.gone("comes with Accord")
        await chat.press("enter")
        await chat.until(lambda: host.launched == ["built-in"])
        await chat.until(lambda: chat.tab.controller.opener.wanted == "old")


async def test_the_page_does_not_wait_for_the_registry(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure("registry = '/somewhere/r.json'\n")
    go_on = threading.Event()

    def slowly(source: str | None) -> list[Row]:
        go_on.wait(30)
        return [Row("box", "Box agent", "1.0.0", "Registry")]

    monkeypatch.setattr("accord.tui.screens.agents.registry_rows", slowly)
    host = Memory(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(host, is_undecided=True).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("Reading the registry…")
        assert "built-in agent" in chat.text
        await chat.type("reading")
        await chat.gone("built-in agent")
        await chat.press("enter")  # "reading" matches no agent
        await chat.press("ctrl+u")
        go_on.set()
        await chat.until("Box agent")
        assert host.launched == []


def test_the_newest_sessions_of_the_built_in_agent_are_listed_if_there_are_any(folders: Path) -> None:
    beyond = TuiHost(folders, frozenset({1}))
    assert beyond.recent(5) == []

    async def keep() -> None:
        async with SqliteStore() as store:
            for number in range(3):
                await store.create(SessionInfo(id=f"s{number}", cwd=str(folders), title=f"number {number}"))
            await store.create(SessionInfo(id="other", cwd="/elsewhere"))

    asyncio.run(keep())
    assert len(beyond.recent(2)) == 2
    assert {each.id for each in beyond.recent(5)} <= {"s0", "s1", "s2"}


def test_an_agent_of_the_registry_is_confirmed_if_its_installation_has_risks(folders: Path) -> None:
    listed = {
        "sound": binary("https://example.com/a.tgz", sha256="0" * 64),
        "unverified": binary("https://example.com/b.tgz"),
        "loud": binary("https://example.com/c.tgz", sha256="0" * 64, env={"NODE_OPTIONS": "--require ./x.js"}),
    }
    source = registry(folders / "r.json", *(entry(id, binary=what) for id, what in listed.items()))
    configure(f"registry = '{source}'\n")
    host = TuiHost(folders, frozenset({1}))

    assert {id: host.describe_install(id) for id in listed} == {
        "sound": "",
        "unverified": "The registry has no checksum for unverified 1.0.0, so it can't be verified.",
        "loud": "The registry sets NODE_OPTIONS for loud: --require ./x.js",
    }


class Slow(Memory):
    """A host that installs the agent first, until released."""

    def __init__(self, *what: Any) -> None:
        super().__init__(*what)
        self.go_on = threading.Event()
        self.ends: Exception | None = None

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        done = 0
        while not self.go_on.wait(0.02):
            done += 10
            progress("downloading", min(done, 400), 1000)
        if self.ends is not None:
            raise self.ends
        return super().launch(target, on_stderr, progress)


async def test_the_installation_shows_progress_before_the_agent_starts(folders: Path) -> None:
    host = Slow(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(host, "box").run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("box isn't installed yet: downloading")
        await chat.until("40 % of 1.0 kB")
        assert "esc stop" in chat.text
        host.go_on.set()
        await chat.ready()
        await chat.until("● ready")


async def test_escape_cancels_an_installation(folders: Path) -> None:
    host = Slow(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(host, "box").run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("box isn't installed yet: downloading")
        await chat.press("escape")
        await chat.until("You cancelled the installation")


async def test_a_failed_installation_is_reported_with_its_reason(folders: Path) -> None:
    host = Slow(folders, ScriptedAgent(), frozenset({1}))
    host.ends = ConfigError("the checksum is wrong; nothing was installed")
    host.go_on.set()
    async with AccordApp(host, "box").run_test(size=(80, 24)) as pilot:
        await Chat(pilot.app, pilot).until("the checksum is wrong; nothing was installed")  # type: ignore[arg-type]


@pytest.mark.parametrize(("width", "left"), [(60, "abcd"), (8, "abc"), (6, "ac"), (2, "a")])
def test_the_least_important_parts_are_dropped_first_in_a_small_window(width: int, left: str) -> None:
    parts = [Part(rank, letter * 2, None) for rank, letter in ((0, "a"), (2, "b"), (1, "c"), (3, "d"))]
    assert "".join(each.text[0] for each in drop_to_fit(parts, width)) == left


@pytest.mark.parametrize(("key", "above"), [("f3", "Doctor: nosuchprog --acp"), ("f5", "A name for nosuchprog --acp")])
async def test_returning_to_the_start_page_preserves_the_typed_text(folders: Path, key: str, above: str) -> None:
    host = Memory(folders, ScriptedAgent, frozenset({1}))
    async with AccordApp(host).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.ready()
        await chat.press("ctrl+n")
        await chat.until("Start an agent")
        await chat.type("nosuchprog --acp")
        await chat.until("Start: nosuchprog --acp")
        await chat.press(key)
        await chat.until(above)
        await chat.press("escape")
        await chat.gone(above)
        await chat.until("Start: nosuchprog --acp")
        await chat.press("enter")
        await chat.until(lambda: host.launched[-1:] == ["nosuchprog --acp"])


async def test_the_start_page_marks_a_new_default_at_once(folders: Path) -> None:
    configure(TWO)
    host = Memory(folders, ScriptedAgent(), frozenset({1}))
    async with AccordApp(host, is_undecided=True).run_test(size=(80, 24)) as pilot:
        chat = Chat(pilot.app, pilot)  # type: ignore[arg-type]
        await chat.until("one --acp")
        await chat.press("down", "f6")
        await chat.until("✓ two")
        await chat.press("enter")
        await chat.until(lambda: host.launched == ["two"])


async def test_the_doctor_suggests_nothing_that_is_impossible_here(folders: Path) -> None:
    told = [
        each.stage async for each in TuiHost(folders, frozenset({1})).diagnose(f"{sys.executable} -m accord showcase")
    ]
    assert told[-1] == "session"

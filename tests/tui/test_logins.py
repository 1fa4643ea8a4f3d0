"""Logins in a separate terminal, which restart the agent: messages and queued prompts stay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.tui_driver import Chat, Launched, Memory

from accord import Agent, AuthMethod, AuthRequired, Turn
from accord.agent.side import AgentSide
from accord.transports.memory import pair
from accord.tui.app import AccordApp


class Locked(Agent):
    """An agent that requires a login, and forgets its sessions when it exits."""

    auth_methods = (AuthMethod(id="terminal", name="By the terminal", kind="terminal", args=["--login"]),)

    def __init__(self, keys: dict[str, bool]) -> None:
        super().__init__()
        self.keys = keys

    async def prompt(self, turn: Turn) -> None:
        if turn.text.startswith("secret") and not self.keys.get("known"):
            raise AuthRequired("log in first")
        await turn.say(f"I heard {turn.text}.")


class Anew(Launched):
    """An agent in memory that can be restarted, and then has no sessions."""

    def __init__(self, name: str, make: Callable[[], Agent], keys: dict[str, bool]) -> None:
        super().__init__(name, make())
        self.make, self.keys = make, keys
        self.serving: list[asyncio.Task[None]] = []

        async def start() -> Any:
            ours, theirs = pair()
            self.serving.append(asyncio.ensure_future(AgentSide(self.make(), theirs).serve()))
            return ours

        self.target: Any = start

    async def log_in(self, method: Any) -> bool:
        self.keys["known"] = self.keys.get("right", True)
        return self.keys["known"]


class Lockable(Memory):
    """An agent that requires a login in a separate terminal."""

    def __init__(self, cwd: Path, keys: dict[str, bool]) -> None:
        super().__init__(cwd, lambda: Locked(keys), frozenset([1]))
        self.keys = keys

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        return Anew("locked", lambda: Locked(self.keys), self.keys)


async def log_in(chat: Chat) -> None:
    await chat.until("By the terminal")
    await chat.until("enter choose")  # from now on it accepts keys
    await chat.press("enter")


async def test_a_prompt_that_wanted_a_login_is_sent_in_the_session_of_the_new_process(folders: Path) -> None:
    app = AccordApp(Lockable(folders, {}))  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        before = chat.tab.controller.session
        await chat.send("secret one")
        await log_in(chat)
        await chat.until("I heard secret one.")
        await chat.until("● ready")
        assert "New session: the agent was restarted" in chat.text
        assert sum(line.strip(" ▌│") == "secret one" for line in chat.lines) == 1
        assert chat.tab.controller.session is not before
        await chat.send("more")
        await chat.until("I heard more.")


async def test_after_earlier_messages_the_prompt_is_put_on_hold(folders: Path) -> None:
    app = AccordApp(Lockable(folders, {}))  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.send("open")
        await chat.until("I heard open.")
        await chat.send("secret one")
        await log_in(chat)
        await chat.until("New session: the agent was restarted")
        await chat.until("on hold")
        assert "I heard open." in chat.text and "The agent doesn't know the messages above" in chat.text
        assert [prompt.text for prompt in chat.tab.controller.queue.waiting] == ["secret one"]
        await chat.press("enter")
        await chat.until("I heard secret one.")


async def test_a_login_that_fails_leaves_the_session_as_it_was(folders: Path) -> None:
    app = AccordApp(Lockable(folders, {"right": False}))  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.send("secret one")
        await log_in(chat)
        await chat.until("failed; try again")
        await chat.until("● ready")
        assert "You are not logged in" in chat.text
        assert chat.tab.editor.text == "secret one", "it can be sent again"
        await chat.send("more")
        await chat.until("I heard more.")


class Elsewhere(Lockable):
    """The same agent on another machine."""

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        launch = super().launch(target, on_stderr, progress)
        launch.has_program = False
        return launch


async def test_terminal_logins_of_a_remote_agent_are_not_offered(folders: Path) -> None:
    app = AccordApp(Elsewhere(folders, {}))  # type: ignore[arg-type]
    async with app.run_test(size=(100, 30)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        agent = chat.tab.controller.process.agent
        assert agent is not None and agent.usable_logins == []

"""Logging in to a model provider inside the client: the built-in agent as a process, and a provider on this machine."""

from __future__ import annotations

import re
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from coder.providers.server import FakeProvider
from support.tui_driver import Chat

from accord.cli.support.host import TuiHost
from accord.coder.key_file import KeyFile
from accord.tui.app import AccordApp
from accord.tui.panels.actions import ActionPanel

KEY = "sk-ant-a-key-that-nobody-may-see"
VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ACCORD_MODEL")


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setattr("keyring.core._keyring_backend", None)  # another test may have chosen one in this process


@asynccontextmanager
async def open_client(project: Path) -> AsyncIterator[Chat]:
    app = AccordApp(TuiHost(project, frozenset({1})))
    async with app.run_test(size=(110, 34)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        yield chat


async def enter_key(chat: Chat, key: str) -> None:
    await chat.until("Key for Anthropic")
    await chat.type(key)
    assert key not in chat.text, "it is hidden"
    await chat.press("enter")


def written_files(folder: Path) -> str:
    """Return the content of everything that the client has written, except the key file."""
    files = [path for path in folder.rglob("*") if path.is_file() and path != KeyFile().path]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


async def test_a_key_is_checked_and_the_session_continues_with_a_model_of_its_provider(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider() as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.base_url("anthropic"))
        async with open_client(folders) as chat:
            await chat.until("Offline demo")
            session = chat.tab.controller.session
            await chat.send("/login")
            await chat.until("Log in: choose a provider")
            await chat.press("enter")
            fake.lists(401)
            await enter_key(chat, "wrong")
            await chat.until("Anthropic rejected this key")
            await chat.press(*["backspace"] * 5)
            await enter_key(chat, KEY)
            await chat.until("Use it until you quit")
            await chat.press("down")
            await chat.until(lambda: re.search("❯ +Use it until you quit", chat.text))
            await chat.press("enter")
            await chat.until(lambda: chat.is_notified("Logged in to Anthropic"))
            await chat.until("until you quit; it isn't saved")
            assert not KeyFile().path.exists()
            await chat.send("say it")
            await chat.until("Hello.")
            assert chat.tab.controller.session is session, "the session continues"
            asked = fake.asked[-1]
            assert KEY in (asked.headers.get("x-api-key", "") + asked.headers.get("authorization", ""))
            log = "\n".join(str(entry) for entry in vars(chat.tab.controller.process.log).values())
            assert KEY not in log
        assert KEY not in written_files(tmp_path)


async def test_a_key_is_saved_in_a_private_file_without_a_keyring(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider() as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.base_url("anthropic"))
        async with open_client(folders) as chat:
            await chat.send("/login anthropic")
            await enter_key(chat, KEY)
            await chat.until("this machine has no secure keyring")
            await chat.press("enter")
            await chat.until(lambda: chat.is_notified("Logged in to Anthropic"))
            await chat.until(lambda: re.search(r"readable\W+by\W+you\W+only", chat.text))  # it may be wrapped
            await chat.send("say it")
            await chat.until("Hello.")
        assert KeyFile().read() == {"anthropic": KEY}
        assert stat.S_IMODE(KeyFile().path.stat().st_mode) == 0o600
        assert KEY not in written_files(tmp_path)


async def test_a_rejected_key_is_reported_in_the_transcript_with_two_actions(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider() as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.base_url("anthropic"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "wrong")
        monkeypatch.setenv("ACCORD_MODEL", "anthropic:one")
        async with open_client(folders) as chat:
            fake.refuses(401, "invalid x-api-key")
            await chat.send("say it")
            await chat.until("Anthropic rejected the key in ANTHROPIC_API_KEY")
            await chat.until("2. Choose another model")
            assert chat.tab.editor.text == "say it", "the prompt comes back"
            await chat.press("1")
            assert chat.tab.editor.text == "say it1", "what is typed never lands in the panel"
            await chat.press("backspace", "tab")
            await chat.until(lambda: isinstance(chat.app.focused, ActionPanel))
            await chat.press("1")
            await enter_key(chat, KEY)
            await chat.until("Use it until you quit")
            await chat.press("down")
            await chat.until(lambda: re.search("❯ +Use it until you quit", chat.text))
            await chat.press("enter")
            await chat.until(lambda: chat.is_notified("Logged in to Anthropic"))
            await chat.press("enter")
            await chat.until("Hello.")


async def test_a_dismissed_login_changes_nothing(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeProvider() as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.base_url("anthropic"))
        async with open_client(folders) as chat:
            await chat.send("/login anthropic")
            await enter_key(chat, KEY)
            await chat.until("Use it until you quit")
            await chat.press("escape")
            await chat.until(lambda: chat.is_notified("The key wasn't saved or used."))
        assert not KeyFile().path.exists()


async def test_a_provider_that_does_not_exist_leads_to_the_list(folders: Path) -> None:
    async with open_client(folders) as chat:
        await chat.send("/login nobody")
        await chat.until("Log in: choose a provider")
        assert chat.is_notified("There is no provider “nobody”.")


async def test_a_key_that_cannot_be_checked_is_not_answered_with_an_option_of_the_command_line(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    async with open_client(folders) as chat:
        await chat.send("/login anthropic")
        await enter_key(chat, KEY)
        await chat.until("http://127.0.0.1:9 refused the connection")
        assert "--no-check" not in chat.text

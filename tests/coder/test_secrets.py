"""Provider keys: no command gets them, and no message or file contains them."""

from __future__ import annotations

import base64
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from coder.scripted_model import coder
from coder.test_loop import call

from accord.coder.credentials import Keys
from accord.coder.history import ToolsSaid
from accord.coder.secrets import Secrets
from accord.config.redaction import MASK
from accord.config.settings import CoderSettings, ProviderEntry
from accord.model.content import text_of
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient, link

Join = Callable[..., Any]
KEY = "sk-ant-api03-0123456789abcdef"
CONFIGURED = "0123-my-own-key-4567"
NAMES = ["ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MINE", "INNOCENT", "DEPLOY_TOKEN", "AWS_SECRET_ACCESS_KEY"]
NAMES += ["SMTP_PASS", "MYSQL_PWD", "NPM_AUTH", "SENTRY_DSN", "CI_CREDS", "SLACK_WEBHOOK_URL", "XAUTHORITY"]
NAMES += ["DB_PASSWORD", "GITHUB_TOKEN", "KEYBOARD", "SIGN_PASSPHRASE", "GH_PAT"]
PRINT = shlex.join([sys.executable, "-c", f"import os; print([name for name in {NAMES} if os.environ.get(name)])"])
"""Prints which of these variables a command gets."""


@pytest.fixture(autouse=True)
def keys(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of a known provider, and one in a variable that only the configuration names."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_API_KEY", f"{KEY}-other")
    monkeypatch.setenv("MINE", CONFIGURED)
    monkeypatch.setenv("INNOCENT", "yes")
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[coder.providers.mine]\nbase_url = "http://127.0.0.1:1"\napi_key_env = "MINE"\n')


async def test_commands_of_the_agents_own_get_no_keys(joined: Join) -> None:
    agent, model = coder([call("run_command", command=PRINT)], ["ok"], tools=None)
    async with joined(agent, permissions=lambda request: True) as client:
        await (await client.new_session()).prompt("go")
    assert "['INNOCENT']" in model.requests[1].messages[-1].results[0].text


async def test_commands_in_the_clients_terminals_get_empty_keys(project: Path) -> None:
    agent, _ = coder([call("run_command", command="make")], ["ok"], tools=None)
    client = ScriptedClient()
    async with link(agent, client, cwd=str(project)) as connected:
        await (await connected.new_session()).prompt("go")
    env = client.started[0].env
    assert {name for name, value in env.items() if not value} == {"ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "MINE"}
    assert env["PAGER"] == "cat"


async def test_commands_get_no_variables_that_look_like_secrets_unless_they_are_configured(
    joined: Join, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES[4:]:
        monkeypatch.setenv(name, "hidden" if name != "KEYBOARD" else "de")
    config = home / "config" / "accord" / "config.toml"
    config.write_text('[coder]\npass_environment = ["GITHUB_TOKEN", "ANTHROPIC_API_KEY"]\n')
    agent, model = coder([call("run_command", command=PRINT)], ["ok"], tools=None)
    async with joined(agent, permissions=lambda request: True) as client:
        await (await client.new_session()).prompt("go")
    printed = model.requests[1].messages[-1].results[0].text
    assert "['MINE', 'INNOCENT', 'XAUTHORITY', 'GITHUB_TOKEN', 'KEYBOARD']" in printed, (
        "a provider's key never reaches a command"
    )


async def test_a_key_in_saved_output_is_redacted(joined: Join, project: Path, home: Path) -> None:
    (project / "notes.txt").write_text(f"{KEY}\n" * 2_000)
    agent, _ = coder([call("run_command", command="cat notes.txt")], ["ok"], tools=None)
    async with joined(agent, permissions=lambda request: True) as client:
        await (await client.new_session()).prompt("go")
    (saved,) = (home / "data" / "accord" / "outputs").rglob("*.txt")
    assert KEY not in saved.read_text() and MASK in saved.read_text()


@pytest.mark.parametrize("key", [KEY, CONFIGURED])
async def test_a_key_in_a_file_is_neither_sent_nor_stored(joined: Join, project: Path, key: str) -> None:
    (project / "notes.txt").write_text(f"before {key} after\n")
    calls = [call("read_file", file_path="notes.txt"), call("write_file", file_path="copy.txt", content=f"{key}\n")]
    agent, model = coder(calls[:1], [f"It says {key}."], calls[1:], ["ok"], tools=None)
    agent.store = store = MemoryStore()
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        first = await session.prompt(f"what about {key}?")
        await session.prompt("go")
        stored = [statement async for statement in store.history(session.id)]
    assert f"before {MASK} after" in model.requests[1].messages[-1].results[0].text
    assert first.text == f"It says {MASK}."
    assert text_of(first.tool_calls[0].content) or first.tool_calls[0].raw_output
    assert key not in repr(first.tool_calls)
    assert key.encode() not in msgspec.json.encode(stored)
    assert session.transcript.title == f"what about {MASK}?"
    assert (project / "copy.txt").read_text() == f"{key}\n", "what is written is what was asked for"


def test_keys_of_the_keyring_and_of_headers_are_redacted() -> None:
    keys = Keys({})
    headers = {"Authorization": "Bearer 0123456789", "X-Title": "Accord, my agent"}
    settings = CoderSettings(providers={"mine": ProviderEntry(base_url="http://127.0.0.1:1", headers=headers)})
    secrets = Secrets(keys, settings)
    assert secrets.redact("Bearer 0123456789, Accord, my agent") == f"{MASK}, Accord, my agent"
    keys._from_keyring = {"openai": "sk-from-the-keyring"}
    assert secrets.redact("is it sk-from-the-keyring?") == f"is it {MASK}?"


async def read_everything(store: MemoryStore, session: str) -> bytes:
    return msgspec.json.encode([statement async for statement in store.history(session)])


@pytest.mark.parametrize("size", [1, 5, len(KEY) - 1])
async def test_a_key_that_is_split_over_chunks_is_redacted(joined: Join, size: int) -> None:
    said = f"It is {KEY}, and starts with sk-ant-"
    agent, _ = coder([said[start : start + size] for start in range(0, len(said), size)], tools=None)
    agent.store = store = MemoryStore()
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        stored = await read_everything(store, session.id)
    assert turn.text == f"It is {MASK}, and starts with sk-ant-"
    assert session.transcript.text.count(MASK) == 1
    assert b"0123456789abcdef" not in stored


async def test_a_key_that_a_command_prints_in_two_pieces_is_redacted(joined: Join, project: Path) -> None:
    (project / "one.txt").write_text(f"before {KEY[:12]}")
    (project / "two.txt").write_text(f"{KEY[12:]} after")
    # The second piece is printed once the first one was shown.
    command = "cat one.txt; while [ ! -e go ]; do sleep 0.01; done; cat two.txt"
    agent, _ = coder([call("run_command", command=command)], ["ok"], tools=None)
    agent.store = store = MemoryStore()
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        async for event in turn:
            if "before" in repr(event):
                (project / "go").touch()
        stored = await read_everything(store, session.id)
        shown = repr(session.transcript.timeline) + repr(session.transcript.terminals)
    assert KEY[12:] not in shown
    for part in (KEY[12:].encode(), base64.b64encode(KEY[12:].encode())[4:-4]):
        assert part not in stored


CUTS = range(0, len(KEY) + 1, 4)


@pytest.mark.parametrize(
    ("tool", "place", "arguments"),
    [
        ("read_file", 2_000, {}),
        ("search", 300, {"pattern": "^xx"}),
        ("search", 260, {"pattern": "y{20}z"}),
        ("edit_file", 300, {"old_string": "y" * 600 + "zz", "new_string": "z"}),
        ("edit_file", 80, {"old_string": "HEAD is not there", "new_string": "z"}),
        ("run_command", 10_000, {"command": "cat"}),
        ("run_command", 2_000, {"command": "cat", "background": True}),
        ("outline", 95, {}),
    ],
)
async def test_no_tool_shows_a_part_of_a_key_in_a_long_line(
    joined: Join, project: Path, tool: str, place: int, arguments: dict[str, Any]
) -> None:
    calls = []
    for cut in CUTS:
        name = f"{cut}.py"
        head = "def xx(a='" if tool == "outline" else "xx"
        filler = "x" * (place - len(head) - cut)
        (project / name).write_text(f"{head}{filler}{KEY}{'y' * 30_000}z\n")
        own = dict(arguments)
        if tool == "run_command":
            own["command"] = f"cat {name}"
        else:
            own["path" if tool in ("search", "outline") else "file_path"] = name
        if own.get("old_string", "").startswith("HEAD"):
            own["old_string"] = f"{head}{filler}{KEY} and more"
        calls.append([call(tool, **own)])
    agent, model = coder(*calls, ["ok"], tools=None)
    agent.store = store = MemoryStore()
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        await session.prompt("go")
        shown = repr([(each.title, each.content, each.raw_output) for each in session.transcript.tool_calls.values()])
        shown += repr(session.transcript.terminals)
        stored = await read_everything(store, session.id)
    told = [
        [message for message in request.messages if isinstance(message, ToolsSaid)][-1].results[0].text
        for request in model.requests[1:]
    ]
    assert len(told) == len(CUTS)
    parts = ("sk-", "-ant", "-api", "0123", "abcd", "cdef")
    assert not [part for text in (*told, shown) for part in parts if part in text]
    assert b"0123456789" not in stored


async def test_a_key_that_is_interrupted_by_colors_is_redacted(joined: Join, project: Path) -> None:
    colored = [f"\x1b[31m{KEY[:at]}\x1b[0m\x1b[K{KEY[at:]}" for at in range(1, len(KEY))]
    (project / "notes.txt").write_text("\n".join(colored))
    agent, model = coder([call("run_command", command="cat notes.txt")], ["ok"], tools=None)
    agent.store = store = MemoryStore()
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        await session.prompt("go")
        statements = [statement async for statement in store.history(session.id)]
        shown = repr(session.transcript.timeline) + repr(session.transcript.terminals)
    stored = repr(statements)
    for part in ("sk-", "-ant", "-api", "0123", "abcd", "cdef"):
        assert part not in shown and part not in stored
    assert model.requests[1].messages[-1].results[0].text.count(MASK) == len(colored)

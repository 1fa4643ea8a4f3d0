"""Cassettes: responses of a provider are recorded, and replayed without it, over ACP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import NAMES, every_wire, their_warnings
from coder.providers.script import Calls, Holds, Says, Thinks
from coder.providers.server import FakeProvider

import accord
from accord.coder.agent import Coder
from accord.coder.models.cassette import Cassette, difference, load
from accord.coder.shared_resources import SharedResources
from accord.errors import ConfigError, RequestFailed
from accord.testing import link

pytestmark = their_warnings
KEY = "sk-of-the-user-0123456789"


def model_of(wire: str) -> str:
    return ":".join(NAMES[wire])


def configure(home: Path, wire: str, provider: FakeProvider) -> Path:
    """Send the requests of a wire format to this machine."""
    file = home / "config" / "accord" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'[coder.providers.{NAMES[wire][0]}]\nbase_url = "{provider.base_url(wire)}"\napi = "{wire}"\n'
        'api_key_env = "THE_KEY"\n'
    )
    return file


def make_project(directory: Path) -> Path:
    directory.mkdir()
    (directory / "a.py").write_text("print('héllo')\n")
    return directory


async def converse(cassette: Cassette, wire: str, project: Path, *prompts: str) -> list[tuple[str, list[str]]]:
    """Send prompts to an agent; return its text and the titles of its tool calls for each."""
    agent = Coder(shared=SharedResources(model=model_of(wire), cassette=cassette, pauses=(0.0,)))
    async with link(agent, cwd=str(project)) as client:
        session = await client.new_session()
        turns = [await session.prompt(prompt) for prompt in prompts]
    return [(turn.text, [call.title or "" for call in turn.tool_calls]) for turn in turns]


@pytest.fixture
def tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("THE_KEY", KEY)
    return tmp_path / "session.cassette"


@every_wire
async def test_a_recorded_session_is_replayed_elsewhere_without_the_provider_and_without_a_key(
    wire: str, tape: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_project(tmp_path / "first"), make_project(tmp_path / "second")
    prompts = ("What does a.py do?", "Thanks.")
    async with FakeProvider() as provider:
        configuration = configure(home, wire, provider)
        provider.refuses(429, "slow down")
        provider.says(
            Thinks("Look.", signature="seal"), Says("I lóok."), Calls("read_file", {"path": "a.py"}, id="call_1")
        )
        provider.says(Says("It prints."))
        provider.says(Says("You're welcome."))
        recorded = await converse(Cassette(tape, record=True, directory=str(first)), wire, first, *prompts)
        assert len(provider.asked) == 4
    assert [text for text, _ in recorded] == ["I lóok.It prints.", "You're welcome."]

    configuration.unlink()
    monkeypatch.delenv("THE_KEY")
    replayed = await converse(Cassette(tape, directory=str(second)), wire, second, *prompts)
    assert replayed == recorded


@every_wire
async def test_a_cassette_has_no_keys_and_only_its_owner_can_read_it(
    wire: str, tape: Path, home: Path, project: Path
) -> None:
    async with FakeProvider() as provider:
        configure(home, wire, provider)
        provider.says(Says(f"Your key is {KEY}, isn't it?"))
        await converse(Cassette(tape, record=True), wire, project, "Hello?")
        assert KEY in json.dumps(provider.asked[0].headers)
    assert KEY not in await asyncio.to_thread(tape.read_text)
    assert "Your key is [redacted]" in "".join(each.response for each in load(tape))
    assert stat.S_IMODE(os.stat(tape).st_mode) == 0o600


@pytest.mark.parametrize(
    ("wire", "field"), [("anthropic", "messages[0].content"), ("responses", "input[0].content"), ("google", "contents")]
)
async def test_a_different_request_is_an_error_that_names_the_difference(
    wire: str, field: str, tape: Path, home: Path, project: Path
) -> None:
    async with FakeProvider() as provider:
        configure(home, wire, provider)
        await converse(Cassette(tape, record=True), wire, project, "Hello?")
    where = rf"^Couldn't replay: request 1 isn't in .* differs at {re.escape(field)}"
    with pytest.raises(RequestFailed) as caught:
        await converse(Cassette(tape), wire, project, "Something else?")
    assert re.search(where, caught.value.explanation)


async def test_responses_can_be_replayed_in_order_whatever_is_asked(tape: Path, home: Path, project: Path) -> None:
    async with FakeProvider() as provider:
        configure(home, "anthropic", provider)
        provider.says(Says("One."))
        provider.says(Says("Two."))
        await converse(Cassette(tape, record=True), "anthropic", project, "first", "second")
    replayed = await converse(Cassette(tape, match="order"), "anthropic", project, "something", "else")
    assert [text for text, _ in replayed] == ["One.", "Two."]
    with pytest.raises(RequestFailed, match=r"Couldn't replay: .* has no more responses: it has 2"):
        await converse(Cassette(tape, match="order"), "anthropic", project, "a", "b", "c")


async def test_a_response_that_the_user_cancelled_is_recorded_up_to_that_point(
    tape: Path, home: Path, project: Path
) -> None:
    async with FakeProvider() as provider:
        configure(home, "anthropic", provider)
        provider.says(Says("One, two"), Holds())
        agent = Coder(shared=SharedResources(model=model_of("anthropic"), cassette=Cassette(tape, record=True)))
        async with link(agent, cwd=str(project)) as client:
            session = await client.new_session()
            async for event in session.prompt("Count."):
                if isinstance(event, accord.Text):
                    await session.cancel()
            await provider.asked[0].gone.wait()
    (exchange,) = load(tape)
    assert not exchange.complete
    assert "One, two" in exchange.response


@pytest.mark.slow
async def test_the_command_records_and_replays(tape: Path, home: Path, project: Path) -> None:
    (project / "a.py").write_text("print(1)\n")
    command = [sys.executable, "-m", "accord", "agent", "--memory", "--model", model_of("anthropic")]

    async def ask(*options: str) -> str:
        environment = dict(os.environ)
        async with accord.connect(
            [*command, "--cassette", str(tape), *options], cwd=str(project), env=environment
        ) as agent:
            return (await (await agent.new_session()).prompt("What does a.py do?")).text

    async with FakeProvider() as provider:
        configuration = configure(home, "anthropic", provider)
        provider.says(Calls("read_file", {"path": "a.py"}, id="call_1"))
        provider.says(Says("It prints 1."))
        assert await ask("--record") == "It prints 1."
    configuration.unlink()
    assert await ask() == "It prints 1."


def test_a_recording_never_replaces_a_file(tape: Path) -> None:
    tape.write_text("mine")
    with pytest.raises(ConfigError, match="exists; delete it, or record to another file"):
        Cassette(tape, record=True)
    assert tape.read_text() == "mine"


@pytest.mark.parametrize(
    "content", ["", "no JSON", "{}", '{"cassette": 2}', '{"cassette": 1}\n{"method": "POST"}', '{"cassette": 1}\n[]']
)
def test_another_file_is_refused_as_a_cassette(tape: Path, content: str) -> None:
    tape.write_text(content)
    with pytest.raises(ConfigError, match="isn't a cassette"):
        Cassette(tape)


def test_a_missing_cassette_is_named(tape: Path) -> None:
    with pytest.raises(ConfigError, match=r"Couldn't read the cassette .*session\.cassette: No such file"):
        Cassette(tape)


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b"),
        ({"a": [1]}, {"a": [1, 2]}, "a[1]"),
        ({"a": 1}, {"a": 1, "b": 2}, "b"),
        ({"a": 1}, {"a": 1}, ""),
        ("text", {"a": 1}, "the whole body"),
    ],
)
def test_the_first_difference_is_found(one: Any, other: Any, where: str) -> None:
    assert difference(one, other) == where

"""Sources of a provider's key, and the login that editors offer if there is none."""

from __future__ import annotations

import asyncio

import pytest
from coder.keyrings import LockedRing, MemoryRing, SilentRing, in_use
from keyring.backends import chainer, fail, null

from accord.coder.credentials import KEYRING_SERVICE, Key, KeyringError, Keys, open_keyring
from accord.coder.login import KEYS, auth_methods, login
from accord.config.settings import CoderSettings, ProviderEntry
from accord.errors import AuthRequired, InvalidParams


def make_ring(**keys: str) -> MemoryRing:
    ring = MemoryRing()
    for provider, key in keys.items():
        ring.set_password(KEYRING_SERVICE, provider, key)
    return ring


def test_a_key_in_the_environment_is_found_with_the_name_of_its_variable() -> None:
    key = Keys(env={"GOOGLE_API_KEY": " abc "}).find("google")
    assert key == Key(value="abc", source="GOOGLE_API_KEY")


def test_a_key_is_never_shown() -> None:
    assert "abc" not in repr(Key(value="abc", source="X"))


async def test_a_key_in_the_keyring_is_found_once_it_was_read() -> None:
    keys = Keys(env={})
    with in_use(make_ring(openai="from-the-ring")):
        assert keys.find("openai") is None
        await keys.read()
    assert keys.find("openai") == Key(value="from-the-ring", source="keyring")
    assert keys.problem is None


async def test_the_environment_comes_before_the_keyring() -> None:
    keys = Keys(env={"OPENAI_API_KEY": "from-the-environment"})
    with in_use(make_ring(openai="from-the-ring")):
        await keys.read()
    found = keys.find("openai")
    assert found is not None
    assert found.value == "from-the-environment"


async def test_a_provider_of_the_configuration_has_its_key_in_the_keyring_too() -> None:
    settings = CoderSettings(providers={"mine": ProviderEntry(base_url="https://x.example", api_key_env="MINE")})
    keys = Keys(env={})
    with in_use(make_ring(mine="m")):
        await keys.read(settings)
    assert [provider.name for provider in keys.providers_with_key(settings)] == ["mine"]


async def test_keys_are_read_from_the_keyring_once() -> None:
    ring = make_ring(openai="one")
    keys = Keys(env={})
    with in_use(ring):
        await keys.read()
        ring.kept.clear()
        await keys.read()
        assert keys.find("openai") is not None
        keys.forget()
        await keys.read()
    assert keys.find("openai") is None


async def test_a_keyring_that_never_responds_blocks_nothing() -> None:
    ring = SilentRing()
    keys = Keys(env={})
    with in_use(ring):
        await keys.read(timeout=0.05)
        ring.answer.set()
    assert keys.problem == "the keyring didn't respond within 0.05 s; is it locked?"
    assert keys.find("openai") is None


async def test_a_locked_keyring_is_reported_and_has_no_keys() -> None:
    keys = Keys(env={})
    with in_use(LockedRing()):
        await keys.read()
    assert keys.problem == "can't use the keyring: the collection is locked"


@pytest.mark.parametrize("ring", [fail.Keyring, null.Keyring])
async def test_a_machine_without_a_keyring_has_no_keys_there(ring: type) -> None:
    keys = Keys(env={})
    with in_use(ring()):
        await keys.read()
    assert keys.problem == "this machine has no secure keyring"


def test_a_keyring_that_is_a_plain_file_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryRing, "__module__", "keyrings.alt.file")
    with in_use(MemoryRing()), pytest.raises(KeyringError, match="no secure keyring"):
        open_keyring()


def test_the_first_secure_keyring_of_a_chain_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    good = MemoryRing()
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [fail.Keyring(), good])
    with in_use(chainer.ChainerBackend()):
        assert open_keyring() is good


def test_the_providers_without_a_key_are_listed() -> None:
    missing = {provider.name: provider.variable for provider in Keys(env={"ANTHROPIC_API_KEY": "x"}).missing()}
    assert "anthropic" not in missing
    assert missing["openai"] == "OPENAI_API_KEY"
    assert "ollama" not in missing


# -- for an editor


def test_an_editor_is_offered_a_login_of_each_kind() -> None:
    agent, terminal = auth_methods()
    assert (agent.kind, agent.id) == ("agent", KEYS)
    assert (terminal.kind, terminal.args) == ("terminal", ["login"])


async def test_a_login_with_a_key_at_hand_succeeds() -> None:
    with in_use(fail.Keyring()):
        await login(KEYS, Keys(env={"XAI_API_KEY": "x"}))


async def test_a_login_finds_a_key_that_was_stored_meanwhile() -> None:
    ring = make_ring()
    keys = Keys(env={})
    with in_use(ring):
        await keys.read()
        ring.set_password(KEYRING_SERVICE, "anthropic", "new")
        await login(KEYS, keys)
    assert keys.find("anthropic") is not None


async def test_a_login_without_a_key_says_which_are_missing_and_what_works_without() -> None:
    with in_use(fail.Keyring()), pytest.raises(AuthRequired) as caught:
        await login(KEYS, Keys(env={}))
    words = str(caught.value)
    assert "set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY" in words
    assert "accord login" in words
    assert "offline model" in words
    assert "no secure keyring" in words
    assert "XAI_API_KEY" in caught.value.data["missing"]


async def test_a_login_by_a_method_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidParams, match="unknown login method 'sso'"):
        await login("sso", Keys(env={}))


async def test_a_cancelled_read_is_repeated() -> None:
    ring = SilentRing()
    keys = Keys({})
    with in_use(ring):
        reading = asyncio.ensure_future(keys.read(timeout=30))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        ring.answer.set()
    with in_use(make_ring(anthropic="sk-1")):
        await keys.read()
    found = keys.find("anthropic")
    assert found is not None and found.value == "sk-1"

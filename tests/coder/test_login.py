"""accord login, as the user sees it: choosing a provider, typing a key, where the key goes."""

from __future__ import annotations

import asyncio
import io
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from coder.keyrings import LockedRing, MemoryRing, in_use
from coder.providers.server import FakeProvider
from keyring.backends import fail

from accord.coder.credentials import KEYRING_SERVICE, Keys, search_variables
from accord.coder.key_file import KeyFile
from accord.coder.login import LoginError, log_in, log_out
from accord.coder.secrets import Secrets
from accord.config.settings import CoderSettings, ProviderEntry, WebSearchEntry


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save nothing in the user's own directory."""
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Type text on standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_key_that_is_piped_in_is_saved_in_the_keyring(typed: Callable[[str], None]) -> None:
    ring = MemoryRing()
    typed("my-key\n")
    with in_use(ring):
        words = log_in("anthropic", check=False)
    assert ring.kept == {(KEYRING_SERVICE, "anthropic"): "my-key"}
    assert words == "Saved the key for Anthropic in the keyring."


def test_a_key_that_is_typed_is_not_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(""))
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda prompt: "typed-key")
    ring = MemoryRing()
    with in_use(ring):
        log_in("openai", check=False)
    assert ring.kept == {(KEYRING_SERVICE, "openai"): "typed-key"}
    printed = capsys.readouterr()
    assert "typed-key" not in printed.out + printed.err


def test_the_user_chooses_a_provider_if_none_is_named(
    typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    ring = MemoryRing()
    typed("2\nmy-key\n")
    with in_use(ring):
        log_in(None, check=False)
    assert list(ring.kept) == [(KEYRING_SERVICE, "openai")]
    assert "1. Anthropic" in capsys.readouterr().err


def test_without_a_keyring_the_key_is_saved_in_a_file_that_only_the_user_can_read(
    typed: Callable[[str], None],
) -> None:
    typed("my-key\n")
    file = KeyFile()
    with in_use(fail.Keyring()):
        words = log_in("google", check=False)
    assert words == (
        f"Saved the key for Google in {file.path}, readable by you only. This machine has no secure keyring."
    )
    assert file.read() == {"google": "my-key"}
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


async def test_a_rejected_key_is_not_saved_in_a_file_either(typed: Callable[[str], None]) -> None:
    async with FakeProvider() as fake:
        fake.lists(401)
        settings = CoderSettings(providers={"anthropic": ProviderEntry(base_url=fake.url)})
        typed("bad-key\n")
        with in_use(fail.Keyring()), pytest.raises(LoginError, match="Anthropic rejected this key"):
            await asyncio.to_thread(log_in, "anthropic", settings=settings)
    assert not KeyFile().path.exists()


def test_a_file_can_be_chosen_although_there_is_a_keyring(typed: Callable[[str], None]) -> None:
    ring = MemoryRing()
    typed("my-key\n")
    with in_use(ring):
        log_in("openai", check=False, in_file=True)
    assert (KeyFile().read(), ring.kept) == ({"openai": "my-key"}, {})


def test_the_error_of_a_keyring_also_names_the_variable(typed: Callable[[str], None]) -> None:
    typed("key\n")
    with in_use(LockedRing()), pytest.raises(LoginError, match="locked; set OPENAI_API_KEY in the environment"):
        log_in("openai", check=False)


def test_an_empty_key_is_not_saved(typed: Callable[[str], None]) -> None:
    ring = MemoryRing()
    typed("\n")
    with in_use(ring), pytest.raises(LoginError, match="no key entered"):
        log_in("openai")
    assert ring.kept == {}


async def test_the_key_of_a_search_engine_is_saved_and_found_like_a_providers(typed: Callable[[str], None]) -> None:
    settings = CoderSettings(web_search=WebSearchEntry(engine="tavily"))
    ring, keys = MemoryRing(), Keys({})
    typed("tavily-key-0123456789\n")
    with in_use(ring):
        assert log_in("tavily") == "Saved the key for Tavily in the keyring.", "there is no model to check it with"
        await keys.read(settings)
        found = keys.find_named("tavily", search_variables(settings))
        assert found is not None and found.value == "tavily-key-0123456789"
        assert "tavily-key-0123456789" in keys.values(settings), "so that it is redacted"
        assert keys.providers_with_key(settings) == [], "it is no provider of models"
        assert log_out("tavily") == "Removed the saved key of: Tavily."
    with pytest.raises(LoginError, match="did you mean tavily"):
        log_in("tavly")


def test_the_variable_of_a_search_key_is_hidden_from_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "another-0123456789")
    settings = CoderSettings(web_search=WebSearchEntry(engine="brave", api_key_env="MINE"))
    secrets = Secrets(Keys(), settings)
    assert "MINE" not in secrets.environment
    assert secrets.redact("it is another-0123456789") != "it is another-0123456789"


def test_an_unknown_provider_is_answered_with_a_similar_one() -> None:
    with pytest.raises(LoginError, match="did you mean anthropic"):
        log_in("antropic")


@pytest.mark.parametrize(
    ("provider", "path", "header"),
    [
        ("anthropic", "/v1/models?limit=100", "authorization"),
        ("openai", "/v1/models", "authorization"),
        ("google", "/v1beta/models?pageSize=200", "x-goog-api-key"),
    ],
)
async def test_a_key_is_checked_before_it_is_saved(
    provider: str, path: str, header: str, typed: Callable[[str], None]
) -> None:
    ring = MemoryRing()
    async with FakeProvider() as fake:
        base_url = f"{fake.url}/v1" if provider == "openai" else fake.url
        settings = CoderSettings(providers={provider: ProviderEntry(base_url=base_url)})
        typed("good-key\n")
        with in_use(ring):
            await asyncio.to_thread(log_in, provider, settings=settings)
        (request,) = fake.asked
    assert request.path == path
    assert request.headers[header].removeprefix("Bearer ") == "good-key"
    assert ring.kept == {(KEYRING_SERVICE, provider): "good-key"}


async def test_a_key_that_the_provider_rejects_is_not_saved(typed: Callable[[str], None]) -> None:
    ring = MemoryRing()
    async with FakeProvider() as fake:
        fake.lists(401)
        settings = CoderSettings(providers={"anthropic": ProviderEntry(base_url=fake.url)})
        typed("bad-key\n")
        with in_use(ring), pytest.raises(LoginError) as caught:
            await asyncio.to_thread(log_in, "anthropic", settings=settings)
    assert str(caught.value) == "Anthropic rejected this key (HTTP 401); nothing was saved"
    assert ring.kept == {}


async def test_a_provider_that_cannot_check_keys_does_not_prevent_a_login(typed: Callable[[str], None]) -> None:
    ring = MemoryRing()
    async with FakeProvider() as fake:
        fake.lists(404)
        settings = CoderSettings(providers={"openai": ProviderEntry(base_url=f"{fake.url}/v1")})
        typed("some-key\n")
        with in_use(ring):
            words = await asyncio.to_thread(log_in, "openai", settings=settings)
    assert "not checked" in words
    assert ring.kept == {(KEYRING_SERVICE, "openai"): "some-key"}


async def test_a_redirect_does_not_get_the_key(typed: Callable[[str], None]) -> None:
    async with FakeProvider() as other, FakeProvider() as fake:
        fake.lists(302, location=f"{other.url}/v1/models")
        settings = CoderSettings(providers={"openai": ProviderEntry(base_url=f"{fake.url}/v1")})
        typed("some-key\n")
        with in_use(MemoryRing()):
            await asyncio.to_thread(log_in, "openai", settings=settings)
        assert other.asked == []


def test_a_provider_that_cannot_be_reached_leaves_the_choice_to_the_user(typed: Callable[[str], None]) -> None:
    settings = CoderSettings(providers={"openai": ProviderEntry(base_url="http://127.0.0.1:9/v1")})
    typed("some-key\n")
    with in_use(MemoryRing()), pytest.raises(LoginError) as caught:
        log_in("openai", settings=settings)
    assert str(caught.value) == (
        "Couldn't reach OpenAI: http://127.0.0.1:9/v1 refused the connection; nothing was saved. To save the key "
        "without a check, add --no-check"
    )


async def test_checking_a_key_is_announced_on_a_terminal(
    typed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    async with FakeProvider() as fake:
        settings = CoderSettings(providers={"openai": ProviderEntry(base_url=f"{fake.url}/v1")})
        typed("good-key\n")
        screen = Terminal()
        monkeypatch.setattr("sys.stderr", screen)
        with in_use(MemoryRing()):
            await asyncio.to_thread(log_in, "openai", settings=settings)
    assert screen.getvalue() == "Checking the key with OpenAI…\n"


def test_a_local_server_is_said_to_work_without_a_key(typed: Callable[[str], None]) -> None:
    typed("\n")
    with pytest.raises(
        LoginError, match=r"nothing was saved\. Ollama works without a key: accord --model ollama:NAME$"
    ):
        log_in("ollama")
    with pytest.raises(LoginError, match=r"^LM Studio works without a key: accord --model lmstudio:NAME$"):
        log_in("lmstudio")


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("vertex", "Accord saves no key for Google Cloud: set GOOGLE_CLOUD_PROJECT, and run: gcloud auth"),
        ("bedrock", "Accord saves no key for Amazon Bedrock: set AWS_REGION, and run: aws configure"),
    ],
)
def test_a_provider_with_its_own_login_is_answered_with_that(provider: str, message: str) -> None:
    with pytest.raises(LoginError, match=f"^{message}"):
        log_in(provider)


def test_logging_out_removes_the_key_of_one_provider_or_of_all() -> None:
    ring = MemoryRing()
    for provider in ("anthropic", "openai", "google"):
        ring.set_password(KEYRING_SERVICE, provider, "x")
    with in_use(ring):
        assert log_out("openai") == "Removed the saved key of: OpenAI."
        assert log_out(None) == "Removed the saved key of: Anthropic, Google."
        assert log_out(None) == "No saved keys."
    assert ring.kept == {}


def test_logging_out_removes_the_keys_of_the_file() -> None:
    KeyFile().save("openai", "x")
    KeyFile().save("google", "y")
    with in_use(fail.Keyring()):
        assert log_out("openai") == "Removed the saved key of: OpenAI."
        assert KeyFile().read() == {"google": "y"}
        assert log_out(None) == "Removed the saved key of: Google."
        assert log_out(None) == "No saved keys."

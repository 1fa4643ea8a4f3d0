"""The offered models, the choice of one of them, and the URLs of providers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from coder.models.provider_client import read_end, their_warnings
from coder.providers.server import FakeProvider

from accord.coder.credentials import Keys
from accord.coder.models import catalog
from accord.coder.models.base import ModelError
from accord.coder.models.catalog import available, nearest
from accord.coder.models.families import EFFORTS
from accord.coder.models.providers import PROVIDERS, known_providers, ollama_url
from accord.coder.models.snapshot import UNKNOWN_CONTEXT, known_models
from accord.config.settings import CoderSettings, ProviderEntry, parse

NOTHING = Keys(env={})
DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text()


def ids(settings: CoderSettings | None = None, env: dict[str, str] | None = None) -> list[str]:
    return [info.id for info in available(settings, Keys(env=env or {}))]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the providers' variables of this machine's environment."""
    for service in PROVIDERS:
        for name in (*service.key_variables, *service.url_variables):
            monkeypatch.delenv(name, raising=False)


# -- what is offered


def test_without_a_key_only_the_offline_model_is_offered() -> None:
    assert ids() == ["offline"]


def test_a_key_brings_the_models_of_its_provider() -> None:
    found = ids(env={"ANTHROPIC_API_KEY": "x"})
    assert found[0] == "anthropic:claude-sonnet-5-5"
    assert found[-1] == "offline"
    assert {id.partition(":")[0] for id in found} == {"anthropic", "offline"}


def test_an_empty_key_counts_as_no_key() -> None:
    assert ids(env={"ANTHROPIC_API_KEY": " "}) == ["offline"]


def test_the_models_of_a_configured_server_are_offered_without_a_key() -> None:
    entry = ProviderEntry(base_url="http://127.0.0.1:9/v1", models=["qwen3", "gpt-oss:20b"], context=64_000)
    found = available(CoderSettings(providers={"mine": entry}), NOTHING)
    assert [info.id for info in found] == ["mine:qwen3", "mine:gpt-oss:20b", "offline"]
    assert found[0].context == 64_000


def test_a_configured_server_with_a_key_variable_waits_for_its_key() -> None:
    entry = ProviderEntry(base_url="https://models.example/v1", models=["m"], api_key_env="MY_KEY")
    settings = CoderSettings(providers={"mine": entry})
    assert ids(settings) == ["offline"]
    assert ids(settings, {"MY_KEY": "x"}) == ["mine:m", "offline"]


def test_a_local_provider_needs_no_key_unless_configured() -> None:
    entry = ProviderEntry(base_url="http://localhost:9/v1", models=["m"])
    assert ids(CoderSettings(providers={"openai": entry})) == ["openai:m", "offline"]
    entry.api_key_env = "MY_KEY"
    assert ids(CoderSettings(providers={"openai": entry})) == ["offline"]


def test_a_provider_with_a_custom_url_has_only_its_configured_models() -> None:
    entry = ProviderEntry(base_url="https://proxy.example/v1", models=["only-this"])
    assert ids(CoderSettings(providers={"openai": entry}), {"OPENAI_API_KEY": "x"}) == ["openai:only-this", "offline"]


def test_the_configured_model_is_offered_whatever_it_is() -> None:
    assert "anthropic:claude-of-tomorrow" in ids(CoderSettings(model="anthropic:claude-of-tomorrow"))


def test_every_model_of_the_catalog_has_a_provider_and_a_unique_name() -> None:
    models = known_models().values()
    assert len({info.name for info in models}) == len(models)
    assert {info.provider for info in models} <= {service.name for service in PROVIDERS}
    assert all(info.context >= 100_000 for info in models)


@their_warnings
def test_the_catalog_agrees_with_the_library() -> None:
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    providers = {"xai": "x-ai"}
    for info in known_models().values():
        name = info.id.partition(":")[2]
        provider = providers.get(info.provider, info.provider)
        _, known = snapshot.find_provider_model(name, provider=None, provider_id=provider, provider_api_url=None)
        assert known.context_window is None or known.context_window == info.context, info.id


# -- choosing a model


def test_the_default_is_the_configured_model_then_the_first_with_a_key_then_offline() -> None:
    assert catalog.default_model(CoderSettings(model="openai:gpt-5"), NOTHING) == "openai:gpt-5"
    assert catalog.default_model(None, Keys(env={"GEMINI_API_KEY": "x"})) == "google:gemini-3.8-flash"
    both = Keys(env={"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"})
    assert catalog.default_model(None, both) == "anthropic:claude-sonnet-5-5"
    assert catalog.default_model(None, NOTHING) == "offline"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("claude-opus-5-5", "anthropic:claude-opus-5-5"),
        ("openai", "openai:gpt-6.1-sol"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
        ("openai:gpt-5-2025-08-07", "openai:gpt-5-2025-08-07"),
    ],
)
def test_ids_can_be_abbreviated(written: str, meant: str) -> None:
    assert catalog.whole_id(written) == meant
    keys = Keys(env={"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"})
    assert catalog.model(written, None, keys).id == meant


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("antropic:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("claude-sonet-5-5", "anthropic:claude-sonnet-5-5"),
        ("ofline", "offline"),
        ("zzzzzzzzzzzz", "expected provider:name"),
    ],
)
def test_an_unknown_model_is_answered_with_similar_ones(written: str, hint: str) -> None:
    with pytest.raises(ModelError, match=hint) as caught:
        catalog.model(written, None, NOTHING)
    assert caught.value.kind == "model"
    assert repr(written) in str(caught.value)


def test_configured_models_are_suggested_too() -> None:
    settings = CoderSettings(providers={"mine": ProviderEntry(base_url="http://127.0.0.1:9", models=["nightingale"])})
    assert nearest("mine:nightingal", settings)[0] == "mine:nightingale"


def test_the_error_for_a_missing_key_names_the_variable_and_the_command() -> None:
    with pytest.raises(ModelError) as caught:
        catalog.model("anthropic:claude-opus-5-5", None, NOTHING)
    assert caught.value.kind == "key"
    assert str(caught.value) == "Anthropic needs a key: set ANTHROPIC_API_KEY, or run: accord login anthropic"


def test_a_provider_without_a_url_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"has no base_url; add it to \[coder.providers.mine\]"):
        catalog.model("mine:m", CoderSettings(providers={"mine": ProviderEntry()}), NOTHING)


def test_the_offline_model_needs_nothing() -> None:
    assert catalog.model("offline", None, NOTHING).id == "offline"


def test_a_model_comes_with_its_details() -> None:
    model = catalog.model("anthropic:claude-sonnet-4-5", None, Keys(env={"ANTHROPIC_API_KEY": "x"}))
    assert (model.name, model.context, model.images) == ("Claude Sonnet 4.5", 200_000, True)
    assert model.efforts == ("low", "medium", "high")


# -- where a provider is


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("box", "http://box:11434/v1"),
        ("https://box.example", "https://box.example:443/v1"),
        ("http://box:1234/v1/", "http://box:1234/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
    ],
)
def test_ollamas_address_comes_from_its_environment_variable(host: str, url: str) -> None:
    assert ollama_url(host) == url
    assert known_providers(None, {"OLLAMA_HOST": host})["ollama"].base_url == url


def test_the_environment_moves_a_provider_and_the_configuration_moves_it_again() -> None:
    env = {"ANTHROPIC_BASE_URL": "https://one.example/"}
    assert known_providers(None, env)["anthropic"].base_url == "https://one.example"
    settings = CoderSettings(providers={"anthropic": ProviderEntry(base_url="https://two.example")})
    assert known_providers(settings, env)["anthropic"].base_url == "https://two.example"


def test_openai_compatible_servers_use_the_chat_api() -> None:
    assert known_providers(None, {})["openai"].api == "responses"
    assert known_providers(None, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})["openai"].api == "chat"
    assert known_providers(None, {"OPENAI_BASE_URL": "https://api.openai.com/v1"})["openai"].api == "responses"
    entry = ProviderEntry(base_url="http://127.0.0.1:9/v1", api="responses")
    assert known_providers(CoderSettings(providers={"openai": entry}), {})["openai"].api == "responses"


@their_warnings
@pytest.mark.parametrize(
    ("id", "wire"),
    [("anthropic:claude-haiku-5-5", "anthropic"), ("openai:gpt-5", "chat"), ("google:gemini-2.5-flash", "google")],
)
async def test_the_usual_variables_lead_to_a_provider(id: str, wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeProvider() as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        model = await catalog.choose(id)
        assert (await read_end(model)).message.text == "Hello."
        await model.close()
        assert fake.asked[0].wire == wire


# -- what is loaded when


def test_choosing_a_model_loads_nothing_heavy() -> None:
    code = """
import sys
from accord.coder.credentials import Keys
from accord.coder.login import auth_methods
from accord.coder.models import catalog
auth_methods()
keys = Keys(env={"ANTHROPIC_API_KEY": "x"})
catalog.available(None, keys)
catalog.model(catalog.default_model(None, keys), None, keys)
heavy = {"pydantic", "pydantic_ai", "httpx2", "anthropic", "openai", "google.genai", "keyring", "mcp", "sqlite3"}
print(sorted(heavy & set(sys.modules)))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("id", "others"),
    [
        ("anthropic", {"openai", "google.genai"}),
        ("openai", {"anthropic", "google.genai"}),
        ("google", {"anthropic", "openai"}),
    ],
)
async def test_only_the_library_of_the_chosen_provider_is_loaded(id: str, others: set[str]) -> None:
    code = f"""
import asyncio, sys
from accord.coder.models import catalog
from accord.coder.models.base import ModelError, Request
async def main():
    model = catalog.model({id!r})
    try:
        async for _ in model.stream(Request(instructions="", messages=[])):
            pass
    except ModelError:
        pass
    await model.close()
asyncio.run(main())
print(sorted({others!r} & set(sys.modules)))
"""
    async with FakeProvider() as fake:
        fake.refuses(401)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-W",
            "ignore",
            "-c",
            code,
            env={**os.environ, **fake.environment()},
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate()
        assert len(fake.asked) == 1
    assert printed.decode().strip() == "[]"


# -- what the documentation says


def test_the_documentation_names_every_provider_with_its_variable() -> None:
    rows = {cells[1]: cells for line in DOCUMENT.splitlines() if len(cells := line.split("|")) == 5}
    for service in PROVIDERS:
        row = "|".join(rows[f" `{service.name}` "])
        assert (service.credentials or service.variable if service.needs_key else "none needed") in row
        for variable in service.url_variables[:1]:
            assert variable in row


def test_the_configuration_in_the_documentation_is_valid() -> None:
    text = DOCUMENT.partition("```toml\n")[2].partition("```")[0]
    settings = parse(text, Path("config.toml")).coder
    assert settings.effort == "high"
    assert known_providers(settings, {})["house"].key_variables == ("HOUSE_API_KEY",)


# -- models that aren't listed


def describe_unlisted(id: str) -> tuple[int, tuple[str, ...]]:
    provider, _, name = id.partition(":")
    info = catalog.describe(known_providers()[provider], name)
    assert info.id == id and info.provider == provider and info.price is None
    return info.context, info.efforts


@pytest.mark.parametrize(
    ("id", "same_as"),
    [
        ("vercel:anthropic/claude-opus-4.5", "anthropic:claude-opus-4-5"),
        ("vercel:anthropic/claude-haiku-5.5", "anthropic:claude-haiku-5-5"),
        ("vercel:openai/gpt-6-luna", "openai:gpt-6-luna"),
        ("vercel:xai/grok-4.7", "xai:grok-4.7"),
        ("vercel:moonshotai/kimi-k3", "moonshotai:kimi-k3"),
        ("openrouter:z-ai/glm-5.3", "zai:glm-5.3"),
        ("openrouter:deepseek/deepseek-v4-pro", "deepseek:deepseek-v4-pro"),
        ("bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic:claude-sonnet-4-5"),
        ("xai:grok-4.7-latest", "xai:grok-4.7"),
        ("deepseek:deepseek-v4-pro-2026-09-01", "deepseek:deepseek-v4-pro"),
        ("zai:glm-5.3-preview", "zai:glm-5.3"),
        ("moonshotai:kimi-k3-thinking", "moonshotai:kimi-k3"),
        ("anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"),
    ],
)
def test_an_unlisted_name_has_the_window_and_efforts_of_the_model_it_stands_for(id: str, same_as: str) -> None:
    known = known_models()[same_as]
    is_gateway = id.partition(":")[0] != same_as.partition(":")[0]
    has_vendors_api = not is_gateway or id.startswith("vercel:anthropic/")
    efforts = tuple(each for each in known.efforts if each in EFFORTS or has_vendors_api)
    assert describe_unlisted(id) == (known.context, efforts)


def test_copilot_has_the_efforts_of_a_model_but_not_its_window() -> None:
    assert describe_unlisted("copilot:claude-opus-4.8") == (UNKNOWN_CONTEXT, (*EFFORTS, "xhigh", "max"))
    assert describe_unlisted("copilot:gpt-4.1") == (UNKNOWN_CONTEXT, ())


@pytest.mark.parametrize(
    "id",
    ["vercel:anthropic/claude-opus", "vercel:openai/gpt-6-luna-mini", "groq:glm-5.3", "xai:kimi-k3", "vllm:glm-5.3"],
)
def test_a_name_that_stands_for_no_listed_model_is_described_cautiously(id: str) -> None:
    context, efforts = describe_unlisted(id)
    assert context <= UNKNOWN_CONTEXT and efforts == ()

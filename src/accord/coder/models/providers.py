"""Providers of models, one row each, adjusted by the environment and the configuration.

The configuration can add providers. Nothing here opens a connection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from accord.coder.models.cassette import Cassette
from accord.coder.models.families import family
from accord.config.settings import CoderSettings, ProviderEntry
from accord.model.record import Record

Api = Literal[
    "anthropic",
    "google",
    "responses",
    "chat",
    "openrouter",
    "ollama",
    "azure",
    "vercel",
    "copilot",
    "chatgpt",
    "vertex",
    "bedrock",
]


class Provider(Record):
    """A provider: its URL, its API, and where its key is found."""

    name: str
    title: str
    api: Api = "chat"
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key; the first one that is set wins."""
    url_variables: tuple[str, ...] = ()
    """Environment variables that override its URL."""
    needs_key: bool = True
    family: str = ""
    """The vendor of its models, if their names don't contain it."""
    login: Literal["key", "device", "browser"] = "key"
    """How users log in: with a key, with a code that they enter at the provider, or in a browser."""
    ready_variables: tuple[str, ...] = ()
    """Environment variables: if one is set, the provider's own library finds credentials."""
    credentials: str = ""
    """The credentials it needs in place of a key, as named in messages: `your AWS credentials`."""
    login_command: str = ""
    """The command of another program that logs in to it."""
    models_of: str = ""
    """A provider with the same models, whose details are known."""
    catalog: str = ""
    """Its name at models.dev, if that differs."""
    models: list[str] = []
    """Names of models from the configuration."""
    headers: dict[str, str] = {}
    context: int | None = None
    images: bool | None = None
    moved: bool = False
    """Whether the configuration or the environment overrides its URL."""
    cassette: Cassette | None = None
    """Records or replays its responses."""

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def find_api(self, model: str) -> Api:
        """Return the API to call a model with.

        Claude models behind a gateway are called with Anthropic's own. OpenAI's has no field for the signatures of
        thoughts, and at Copilot, some models can't think through it."""
        return "anthropic" if self.api in ("vercel", "copilot") and family(model) == "claude" else self.api

    @property
    def saves_login(self) -> bool:
        """Whether a key or a login can be saved for it."""
        return bool(self.key_variables) or self.login != "key"

    @property
    def login_hint(self) -> str:
        """Instructions to log in, for error messages."""
        if self.login == "browser":
            return f"run: accord login {self.name}"
        if self.ready_variables:
            return f"set {self.ready_variables[0]}, and run: {self.login_command}"
        return f"set {self.variable}, or run: accord login {self.name}"

    @property
    def variable(self) -> str:
        """The environment variable to mention to users."""
        return self.key_variables[0] if self.key_variables else f"{self.name.upper().replace('-', '_')}_API_KEY"


PROVIDERS = [
    Provider(
        name="anthropic",
        title="Anthropic",
        api="anthropic",
        base_url="https://api.anthropic.com",
        key_variables=("ANTHROPIC_API_KEY",),
        url_variables=("ANTHROPIC_BASE_URL",),
    ),
    Provider(
        name="openai",
        title="OpenAI",
        api="responses",
        base_url="https://api.openai.com/v1",
        key_variables=("OPENAI_API_KEY",),
        url_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    ),
    Provider(
        name="google",
        title="Google",
        api="google",
        base_url="https://generativelanguage.googleapis.com",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_variables=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        api="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_variables=("OPENROUTER_API_KEY",),
        url_variables=("OPENROUTER_BASE_URL",),
    ),
    Provider(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        key_variables=("MISTRAL_API_KEY",),
        family="mistral",
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_variables=("DEEPSEEK_API_KEY",),
        family="deepseek",
    ),
    Provider(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        key_variables=("XAI_API_KEY",),
        family="x-ai",
    ),
    Provider(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_variables=("GROQ_API_KEY",),
    ),
    Provider(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        key_variables=("CEREBRAS_API_KEY",),
    ),
    Provider(
        name="moonshotai",
        title="Moonshot AI",
        base_url="https://api.moonshot.ai/v1",
        key_variables=("MOONSHOTAI_API_KEY", "MOONSHOT_API_KEY"),
        family="moonshotai",
    ),
    Provider(
        name="zai",
        title="Z.ai",
        base_url="https://api.z.ai/api/paas/v4",
        key_variables=("ZAI_API_KEY",),
        family="zai-org",
    ),
    Provider(
        name="together",
        title="Together",
        catalog="togetherai",
        base_url="https://api.together.xyz/v1",
        key_variables=("TOGETHER_API_KEY",),
    ),
    Provider(
        name="fireworks",
        title="Fireworks",
        catalog="fireworks-ai",
        base_url="https://api.fireworks.ai/inference/v1",
        key_variables=("FIREWORKS_API_KEY",),
    ),
    Provider(
        name="vercel",
        title="Vercel AI Gateway",
        api="vercel",
        base_url="https://ai-gateway.vercel.sh/v1",
        key_variables=("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY"),
        url_variables=("AI_GATEWAY_BASE_URL",),
    ),
    Provider(
        name="azure",
        title="Azure OpenAI",
        api="azure",
        key_variables=("AZURE_OPENAI_API_KEY",),
        url_variables=("AZURE_OPENAI_ENDPOINT",),
        models_of="openai",
    ),
    Provider(
        name="copilot",
        title="GitHub Copilot",
        api="copilot",
        base_url="https://api.githubcopilot.com",
        key_variables=("GITHUB_COPILOT_API_KEY", "COPILOT_GITHUB_TOKEN"),
        url_variables=("GITHUB_COPILOT_BASE_URL",),
        login="device",
        catalog="github-copilot",
    ),
    Provider(
        name="chatgpt",
        title="ChatGPT",
        api="chatgpt",
        base_url="https://api.openai.com/v1",
        login="browser",
        credentials="your ChatGPT login",
        models_of="openai",
    ),
    Provider(
        name="vertex",
        title="Google Cloud",
        api="vertex",
        base_url="https://aiplatform.googleapis.com",
        url_variables=("GOOGLE_VERTEX_BASE_URL",),
        ready_variables=("GOOGLE_CLOUD_PROJECT",),
        credentials="your Google Cloud credentials",
        login_command="gcloud auth application-default login",
        models_of="google",
    ),
    Provider(
        name="bedrock",
        title="Amazon Bedrock",
        api="bedrock",
        base_url="https://bedrock-runtime.amazonaws.com",
        url_variables=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
        ready_variables=("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
        credentials="your AWS credentials",
        login_command="aws configure",
        catalog="amazon-bedrock",
    ),
    Provider(
        name="ollama",
        title="Ollama",
        api="ollama",
        base_url="http://127.0.0.1:11434/v1",
        url_variables=("OLLAMA_HOST", "OLLAMA_BASE_URL"),
        key_variables=("OLLAMA_API_KEY",),
        needs_key=False,
    ),
    Provider(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        url_variables=("LMSTUDIO_BASE_URL",),
        needs_key=False,
    ),
    Provider(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        url_variables=("VLLM_BASE_URL",),
        key_variables=("VLLM_API_KEY",),
        needs_key=False,
    ),
    Provider(
        name="llamacpp",
        title="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        url_variables=("LLAMACPP_BASE_URL",),
        needs_key=False,
    ),
]


def known_providers(settings: CoderSettings | None = None, env: Mapping[str, str] | None = None) -> dict[str, Provider]:
    """Return all providers by name, adjusted by the environment, then by the configuration."""
    env = os.environ if env is None else env
    found = {provider.name: _apply_environment(env, provider) for provider in PROVIDERS}
    for name, entry in (settings.providers if settings else {}).items():
        base = found.get(name) or Provider(name=name, title=name, needs_key=entry.api_key_env is not None)
        found[name] = _apply_entry(base, entry)
    return found


def _apply_environment(env: Mapping[str, str], provider: Provider) -> Provider:
    """Apply the environment to a provider."""
    url = next((env[name] for name in provider.url_variables if env.get(name)), None)
    if url is None:
        return provider
    if provider.name == "ollama":
        url = ollama_url(url)
    return _change_url(provider, url)


def _change_url(provider: Provider, url: str) -> Provider:
    """Change a provider's URL. Only OpenAI itself is certain to have the Responses API; others get the chat API."""
    url = url.rstrip("/")
    elsewhere = provider.api == "responses" and urlsplit(url).hostname != "api.openai.com"
    moved = msgspec.structs.replace(provider, base_url=url, api="chat" if elsewhere else provider.api, moved=True)
    # A local server may not need a key; if it does, requests without one fail with a clear error.
    needs_key = moved.needs_key and not (moved.local and moved.key_variables)
    return msgspec.structs.replace(moved, needs_key=needs_key)


def _apply_entry(provider: Provider, entry: ProviderEntry) -> Provider:
    """Apply an entry of the configuration to a provider."""
    if entry.base_url:
        provider = _change_url(provider, entry.base_url)
    changes: dict[str, object] = {"models": list(entry.models), "headers": dict(entry.headers)}
    if entry.api:
        changes["api"] = entry.api
    if entry.api_key_env:
        changes["key_variables"] = (entry.api_key_env,)
        changes["needs_key"] = True
    if entry.context is not None:
        changes["context"] = entry.context
    if entry.images is not None:
        changes["images"] = entry.images
    return msgspec.structs.replace(provider, **changes)


def ollama_url(host: str) -> str:
    """Return Ollama's URL from the variable with its listen address: a host, a port, both, or a URL."""
    parts = urlsplit(host if "://" in host else f"http://{host}")
    name = parts.hostname or "127.0.0.1"
    if name in ("0.0.0.0", "::"):  # listens on all interfaces
        name = "127.0.0.1"
    port = parts.port or (443 if parts.scheme == "https" else 11434)
    shown = f"[{name}]" if ":" in name else name
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{shown}:{port}{path if path.endswith('/v1') else f'{path}/v1'}"

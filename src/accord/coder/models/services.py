"""Who provides models: a row of data for each provider, as the configuration and the environment set it.

A provider that nobody here has heard of is one more row, from the configuration. Nothing here opens a connection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from accord.config.coder import CoderSettings, ProviderEntry
from accord.model.noun import Noun

Api = Literal["anthropic", "google", "responses", "chat"]


class Service(Noun):
    """A provider: where it is, what it speaks, and where its key is looked for."""

    name: str
    title: str
    api: Api = "chat"
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    """The environment variables that may hold its key, the first found counts."""
    url_variables: tuple[str, ...] = ()
    """The environment variables that say where it is instead."""
    needs_key: bool = True
    family: str = ""
    """Whose models it has, where their names do not say it."""
    models: list[str] = []
    """Names of models that the configuration adds."""
    headers: dict[str, str] = {}
    context: int | None = None
    images: bool | None = None
    moved: bool = False
    """Whether the configuration or the environment says that it is elsewhere."""

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def variable(self) -> str:
        """The environment variable to tell a person about."""
        return self.key_variables[0] if self.key_variables else f"{self.name.upper().replace('-', '_')}_API_KEY"


SERVICES = [
    Service(
        name="anthropic",
        title="Anthropic",
        api="anthropic",
        base_url="https://api.anthropic.com",
        key_variables=("ANTHROPIC_API_KEY",),
        url_variables=("ANTHROPIC_BASE_URL",),
    ),
    Service(
        name="openai",
        title="OpenAI",
        api="responses",
        base_url="https://api.openai.com/v1",
        key_variables=("OPENAI_API_KEY",),
        url_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    ),
    Service(
        name="google",
        title="Google",
        api="google",
        base_url="https://generativelanguage.googleapis.com",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_variables=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    ),
    Service(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        key_variables=("OPENROUTER_API_KEY",),
        url_variables=("OPENROUTER_BASE_URL",),
    ),
    Service(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        key_variables=("MISTRAL_API_KEY",),
        family="mistral",
    ),
    Service(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_variables=("DEEPSEEK_API_KEY",),
        family="deepseek",
    ),
    Service(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        key_variables=("XAI_API_KEY",),
        family="x-ai",
    ),
    Service(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_variables=("GROQ_API_KEY",),
    ),
    Service(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        key_variables=("CEREBRAS_API_KEY",),
    ),
    Service(
        name="moonshotai",
        title="Moonshot AI",
        base_url="https://api.moonshot.ai/v1",
        key_variables=("MOONSHOTAI_API_KEY", "MOONSHOT_API_KEY"),
        family="moonshotai",
    ),
    Service(
        name="zai",
        title="Z.ai",
        base_url="https://api.z.ai/api/paas/v4",
        key_variables=("ZAI_API_KEY",),
        family="zai-org",
    ),
    Service(
        name="together",
        title="Together",
        base_url="https://api.together.xyz/v1",
        key_variables=("TOGETHER_API_KEY",),
    ),
    Service(
        name="fireworks",
        title="Fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        key_variables=("FIREWORKS_API_KEY",),
    ),
    Service(
        name="ollama",
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        url_variables=("OLLAMA_HOST", "OLLAMA_BASE_URL"),
        key_variables=("OLLAMA_API_KEY",),
        needs_key=False,
    ),
    Service(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        url_variables=("LMSTUDIO_BASE_URL",),
        needs_key=False,
    ),
    Service(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        url_variables=("VLLM_BASE_URL",),
        key_variables=("VLLM_API_KEY",),
        needs_key=False,
    ),
    Service(
        name="llamacpp",
        title="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        url_variables=("LLAMACPP_BASE_URL",),
        needs_key=False,
    ),
]


def services(settings: CoderSettings | None = None, env: Mapping[str, str] | None = None) -> dict[str, Service]:
    """Every provider by its name, as the environment and then the configuration set it."""
    env = os.environ if env is None else env
    found = {service.name: _in(env, service) for service in SERVICES}
    for name, entry in (settings.providers if settings else {}).items():
        base = found.get(name) or Service(name=name, title=name, needs_key=entry.api_key_env is not None)
        found[name] = _set(base, entry)
    return found


def _in(env: Mapping[str, str], service: Service) -> Service:
    """A provider as the environment has it."""
    url = next((env[name] for name in service.url_variables if env.get(name)), None)
    if url is None:
        return service
    if service.name == "ollama":
        url = ollama_url(url)
    return _moved(service, url)


def _moved(service: Service, url: str) -> Service:
    """A provider elsewhere. Only OpenAI itself is sure to have its newer protocol; what imitates it has the older."""
    url = url.rstrip("/")
    elsewhere = service.api == "responses" and urlsplit(url).hostname != "api.openai.com"
    moved = msgspec.structs.replace(service, base_url=url, api="chat" if elsewhere else service.api, moved=True)
    # A server on this machine may well have no lock; one that has says so.
    return msgspec.structs.replace(moved, needs_key=moved.needs_key and not moved.local)


def _set(service: Service, entry: ProviderEntry) -> Service:
    """A provider as its entry in the configuration says."""
    if entry.base_url:
        service = _moved(service, entry.base_url)
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
    return msgspec.structs.replace(service, **changes)


def ollama_url(host: str) -> str:
    """Where Ollama answers, from the variable that says where it listens: a host, a port, both, or a URL."""
    parts = urlsplit(host if "://" in host else f"http://{host}")
    name = parts.hostname or "127.0.0.1"
    if name in ("0.0.0.0", "::"):  # listens everywhere; ask here
        name = "127.0.0.1"
    port = parts.port or (443 if parts.scheme == "https" else 11434)
    shown = f"[{name}]" if ":" in name else name
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{shown}:{port}{path if path.endswith('/v1') else f'{path}/v1'}"

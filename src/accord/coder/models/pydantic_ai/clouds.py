"""Clients of clouds and subscriptions, which authenticate in their own ways: Azure, AWS, Google Cloud, Vercel, GitHub
Copilot and ChatGPT."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from accord.coder.models.base import ModelError
from accord.coder.models.families import bare_name

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Speaker

    from accord.coder.models.providers import Provider

COPILOT_HEADERS = (
    *("editor-version", "editor-plugin-version", "openai-intent", "x-github-api-version"),
    "copilot-integration-id",
)
"""The headers by which Copilot recognizes an editor."""
BEDROCK_SECONDS = 300.0
"""The maximum silence of a model on Bedrock, whose library makes its own connections."""


def connect_azure(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.azure")
    # The current API has no versions. A dated one is used only if the user names it.
    version = os.environ.get("OPENAI_API_VERSION") or None
    endpoint = service.base_url
    if version is None and not endpoint.endswith("/v1") and not endpoint.endswith(".models.ai.azure.com"):
        endpoint = f"{endpoint}/openai/v1"
    provider = providers.AzureProvider(
        azure_endpoint=endpoint, api_key=key or "none", api_version=version, http_client=client
    )
    speaker: Speaker = models.OpenAIResponsesModel(name, provider=provider)
    return speaker


def connect_vercel(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.vercel")
    own = openai.AsyncOpenAI(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.OpenAIChatModel(name, provider=providers.VercelProvider(openai_client=own))
    return speaker


def connect_copilot(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.github_copilot")
    providers: Any = importlib.import_module("pydantic_ai.providers.github_copilot")
    provider = providers.GitHubCopilotProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.GitHubCopilotModel(name, provider=provider)
    return speaker


def connect_claude(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    """Create a client for a Claude model at a gateway that has Anthropic's API beside OpenAI's."""
    anthropic: Any = importlib.import_module("anthropic")
    models: Any = importlib.import_module("pydantic_ai.models.anthropic")
    providers: Any = importlib.import_module("pydantic_ai.providers.anthropic")
    headers: dict[str, str] = {}
    if service.api == "copilot":  # the names of the editor, without which Copilot may reject a request
        copilot: Any = importlib.import_module("pydantic_ai.providers.github_copilot")
        own = copilot.GitHubCopilotProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
        headers = {name: value for name, value in own.client.default_headers.items() if name in COPILOT_HEADERS}
    provider = providers.AnthropicProvider(
        anthropic_client=anthropic.AsyncAnthropic(
            auth_token=key or "none",
            base_url=service.base_url.removesuffix("/v1"),  # the library adds it
            default_headers=headers,
            http_client=client,
        )
    )
    # The abilities are looked up by Anthropic's name of the model: `anthropic/claude-opus-4.5` is `claude-opus-4-5`.
    profile = provider.model_profile(bare_name(name))
    speaker: Speaker = models.AnthropicModel(name, provider=provider, profile=profile)
    return speaker


def connect_chatgpt(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    providers: Any = importlib.import_module("pydantic_ai.providers.openai_chatgpt")
    from accord.coder.chatgpt_login import SavedCredentials

    provider = providers.OpenAIChatGPTProvider(credential_source=SavedCredentials(), http_client=client)
    speaker: Speaker = models.OpenAIResponsesModel(name, provider=provider)
    return speaker


def connect_vertex(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.google")
    providers: Any = importlib.import_module("pydantic_ai.providers.google_cloud")
    auth: Any = importlib.import_module("google.auth.exceptions")
    project = os.environ.get("GOOGLE_CLOUD_PROJECT") or None
    location = os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
    try:
        provider = providers.GoogleCloudProvider(
            project=project,
            location=location,
            base_url=service.base_url if service.moved else None,
            http_client=client,
        )
    except (auth.GoogleAuthError, ValueError) as error:
        raise _no_credentials(service, error) from None
    speaker: Speaker = models.GoogleModel(name, provider=provider)
    return speaker


def connect_bedrock(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.bedrock")
    providers: Any = importlib.import_module("pydantic_ai.providers.bedrock")
    boto3: Any = importlib.import_module("boto3")
    config: Any = importlib.import_module("botocore.config")
    errors: Any = importlib.import_module("botocore.exceptions")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or None
    try:
        own = boto3.client(
            "bedrock-runtime",
            region_name=region,
            endpoint_url=service.base_url if service.moved else None,
            config=config.Config(read_timeout=BEDROCK_SECONDS, retries={"total_max_attempts": 1}),
        )
    except (errors.BotoCoreError, ValueError) as error:
        raise _no_credentials(service, error) from None
    speaker: Speaker = models.BedrockConverseModel(name, provider=providers.BedrockProvider(bedrock_client=own))
    return speaker


def _no_credentials(service: Provider, error: Exception) -> ModelError:
    return ModelError(f"{service.title} can't use {service.credentials} ({error}): {service.login_hint}", kind="key")

"""Configuration, keys, models and tools, shared by all sessions of the coding agent.

Everything is loaded when first needed: an editor waits for the first response."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accord.errors import ConfigError, RequestFailed
from accord.model.requests import AuthMethod
from accord.model.session import Choice, Option

if TYPE_CHECKING:
    from accord.coder.credentials import Keys
    from accord.coder.models.base import Model
    from accord.coder.models.cassette import Cassette
    from accord.coder.models.snapshot import ModelInfo
    from accord.coder.secrets import Secrets
    from accord.coder.tools.base import Tool
    from accord.config.settings import Loaded
    from accord.policy.engine import Policy
    from accord.policy.rule import Rule

OFFLINE = "offline"
KEYRING_SECONDS = 2.0
ALLOW_PRIVATE_VARIABLE = "ACCORD_ALLOW_PRIVATE_URLS"


class SharedResources:
    """Loads configuration, keys, models and tools, each once."""

    def __init__(
        self,
        *,
        model: str | None = None,
        rules: Sequence[Rule] = (),
        cassette: Cassette | None = None,
        **limits: Any,
    ) -> None:
        """`model` overrides the configured model of new sessions; `rules` come before all others; `cassette` records or
        replays the responses of providers; `limits` are options of `Loop`: `max_requests`, `pauses`."""
        self._model = model
        self._cassette = cassette
        self._rules = list(rules)
        self.limits = limits
        self.logins: int = 0
        """The number of logins. Models are opened again after each."""
        self._keys: Keys | None = None
        self._tools: dict[str, Tool[Any]] | None = None

    # -- configuration

    def settings(self, cwd: str) -> Loaded:
        """Return the user's and the project's configuration. Raises `RequestFailed` if it is invalid."""
        from pathlib import Path

        from accord.policy.project import load_configuration

        try:
            return load_configuration(Path(cwd))
        except ConfigError as error:
            raise RequestFailed(str(error), data={"kind": "configuration"}) from error

    def policy(self, roots: Sequence[str], loaded: Loaded) -> Policy:
        """Return the permission policy of a session."""
        from pathlib import Path

        from accord.policy.audit import Audit
        from accord.policy.project import build_policy

        cwd, *directories = roots
        try:
            return build_policy(loaded, Path(cwd), "accord", self._rules, Audit(), directories=directories)
        except ConfigError as error:
            raise RequestFailed(str(error), data={"kind": "configuration"}) from error

    @property
    def allows_private(self) -> bool:
        return os.environ.get(ALLOW_PRIVATE_VARIABLE) == "1"

    def tools(self) -> dict[str, Tool[Any]]:
        if self._tools is None:
            from accord.coder.tools.registry import standard_tools

            self._tools = standard_tools()
        return self._tools

    # -- models

    @property
    def keys(self) -> Keys:
        if self._keys is None:
            from accord.coder.credentials import Keys

            self._keys = Keys()
        return self._keys

    def secrets(self, loaded: Loaded) -> Secrets:
        """Return the keys to hide in a session."""
        from accord.coder.secrets import Secrets

        return Secrets(self.keys, loaded.settings.coder)

    async def read_keys(self, cwd: str) -> None:
        """Read the keyring if the environment has no keys. The timeout is short: a session is opening."""
        settings = self.settings(cwd).settings.coder
        if not self.keys.providers_with_key(settings):
            await self.keys.read(settings, timeout=KEYRING_SECONDS)

    def models(self, cwd: str) -> list[ModelInfo]:
        """Return the available models."""
        from accord.coder.models.catalog import available

        return available(self.settings(cwd).settings.coder, self.keys)

    def model_info(self, cwd: str, id: str) -> ModelInfo | None:
        """Return facts about a model. For an unlisted model, return its provider's defaults."""
        from accord.coder.models.catalog import describe
        from accord.coder.models.providers import known_providers

        provider, _, name = id.partition(":")
        service = known_providers(self.settings(cwd).settings.coder).get(provider)
        unlisted = describe(service, name) if service is not None and name else None
        return next((each for each in self.models(cwd) if each.id == id), unlisted)

    async def unlisted_model(self, cwd: str, name: str) -> Choice:
        """Return a choice for an unlisted model. Raises `ModelError` if it can't be used."""
        from accord.coder.models.catalog import unknown_model, whole_id

        settings = self.settings(cwd).settings.coder
        id = whole_id(name, settings)
        info = self.model_info(cwd, id)
        if info is None and not id.startswith("local:"):
            raise unknown_model(id, settings)
        await (await self.model(cwd, id)).close()
        titles = self._provider_titles(cwd)
        return _offer(info, titles) if info is not None else _offer_unlisted(id, titles)

    def default_model(self, cwd: str) -> str:
        """Return the default model: the configured one, or that of the first provider with a key, or offline."""
        from accord.coder.models.catalog import default_model

        return default_model(self.settings(cwd).settings.coder, self.keys)

    def is_fallback(self, cwd: str) -> bool:
        """Return whether new sessions are offline only because nothing else is configured."""
        chosen = self._model or self.settings(cwd).settings.coder.model
        return chosen is None and self.default_model(cwd) == OFFLINE

    def model_option(self, cwd: str, before: str | None) -> Option:
        """Return the model option. The session's current model is always a choice, even without a key."""
        infos = self.models(cwd)
        value = before or self._model or self.default_model(cwd)
        titles = self._provider_titles(cwd)
        choices = [_offer(info, titles) for info in infos]
        if value not in [choice.value for choice in choices]:
            choices.insert(0, _offer_unlisted(value, titles))
        return Option(id="model", name="Model", value=value, choices=choices, category="model")

    def _provider_titles(self, cwd: str) -> dict[str, str]:
        """Return the providers' names for users, by id."""
        from accord.coder.models.providers import known_providers

        return {each.name: each.title for each in known_providers(self.settings(cwd).settings.coder).values()}

    def effort_option(self, cwd: str, model: str) -> Option | None:
        """Return the effort option, if the model has one."""
        info = self.model_info(cwd, model)
        if info is None or not info.efforts:
            return None
        wanted = self.settings(cwd).settings.coder.effort
        value = wanted if wanted in info.efforts else "default"
        choices = [Choice(value="default", name="Default"), *(Choice(value=e, name=e.title()) for e in info.efforts)]
        return Option(id="effort", name="Effort", value=value, choices=choices, category="thought_level")

    async def model(self, cwd: str, id: str) -> Model:
        """Open a model."""
        from accord.coder.models.catalog import choose

        return await choose(id, self.settings(cwd).settings.coder, self.keys, self._cassette)

    # -- login

    def auth_methods(self) -> list[AuthMethod]:
        from accord.coder.login import auth_methods

        return auth_methods()

    async def login(self, method_id: str) -> None:
        from accord.coder.login import login

        self.logins += 1
        await login(method_id, self.keys)


def _offer(info: ModelInfo, titles: Mapping[str, str]) -> Choice:
    """Return the choice for a model, in the group of its provider."""
    from accord.coder.models.catalog import summarize

    title = titles.get(info.provider, "Without a key" if info.provider in ("", OFFLINE) else info.provider)
    described = " · ".join(filter(None, (info.description, summarize(info))))
    return Choice(
        value=info.id, name=info.name, description=described or None, group=info.provider or OFFLINE, group_name=title
    )


def _offer_unlisted(id: str, titles: Mapping[str, str]) -> Choice:
    """Return the choice for a session's model that isn't available any more."""
    provider = id.partition(":")[0]
    return Choice(value=id, name=id, group=provider, group_name=titles.get(provider, provider))

"""What all sessions of the coding agent share: the configuration, the keys, the models, the tools.

Everything here is looked up when it is needed and not before: an editor waits for the first answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from accord.errors import ConfigError, RequestFailed
from accord.model.requests import AuthMethod
from accord.model.session import Choice, Option

if TYPE_CHECKING:
    from accord.coder.keys import Keys
    from accord.coder.models.base import Model
    from accord.coder.models.catalog import ModelInfo
    from accord.coder.tools.base import Tool
    from accord.config.settings import Loaded
    from accord.policy.engine import Policy
    from accord.policy.rule import Rule

OFFLINE = "offline"
KEYRING_PATIENCE = 2.0
PRIVATE = "ACCORD_ALLOW_PRIVATE_URLS"


class Equipment:
    """Looks things up, once each."""

    def __init__(self, *, model: str | None = None, rules: Sequence[Rule] = (), **limits: Any) -> None:
        """`model` is the one of new sessions, whatever is configured; `rules` come before all others; `limits` are the
        loop's: `max_requests`, `pauses`."""
        self._model = model
        self._rules = list(rules)
        self.limits = limits
        self.logins = 0
        """How often somebody has logged in: models are made anew then."""
        self._keys: Keys | None = None
        self._tools: dict[str, Tool[Any]] | None = None

    # -- the project

    def settings(self, cwd: str) -> Loaded:
        """What the user and the project configured. What cannot be read is told to the client, in its words."""
        from pathlib import Path

        from accord.policy.project import configuration

        try:
            return configuration(Path(cwd))
        except ConfigError as error:
            raise RequestFailed(str(error), data={"kind": "configuration"}) from error

    def policy(self, roots: Sequence[str], loaded: Loaded) -> Policy:
        """The rules for a session."""
        from pathlib import Path

        from accord.policy.audit import Audit
        from accord.policy.project import policy

        cwd, *directories = roots
        try:
            return policy(loaded, Path(cwd), "accord", self._rules, Audit(), directories=directories)
        except ConfigError as error:
            raise RequestFailed(str(error), data={"kind": "configuration"}) from error

    @property
    def allows_private(self) -> bool:
        return os.environ.get(PRIVATE) == "1"

    def tools(self) -> dict[str, Tool[Any]]:
        if self._tools is None:
            from accord.coder.tools.standard import standard_tools

            self._tools = standard_tools()
        return self._tools

    # -- models

    @property
    def keys(self) -> Keys:
        if self._keys is None:
            from accord.coder.keys import Keys

            self._keys = Keys()
        return self._keys

    async def read_keys(self, cwd: str) -> None:
        """Looks into the keyring for keys that the environment has not, for a moment: a session begins soon."""
        settings = self.settings(cwd).settings.coder
        if not self.keys.found(settings):
            await self.keys.read(settings, patience=KEYRING_PATIENCE)

    def models(self, cwd: str) -> list[ModelInfo]:
        """The models that can be had."""
        from accord.coder.models.catalog import available

        return available(self.settings(cwd).settings.coder, self.keys)

    def default_model(self, cwd: str) -> str:
        """The model of new sessions when none was named: the configured one, the first that has a key, or none."""
        from accord.coder.models.choose import default_model

        return default_model(self.settings(cwd).settings.coder, self.keys)

    def is_makeshift(self, cwd: str) -> bool:
        """Whether new sessions work offline for want of anything better, and not because somebody chose to."""
        chosen = self._model or self.settings(cwd).settings.coder.model
        return chosen is None and self.default_model(cwd) == OFFLINE

    def model_option(self, cwd: str, before: str | None) -> Option:
        """The choice of a model. A session's own is offered for as long as it is used, key or not."""
        infos = self.models(cwd)
        value = before or self._model or self.default_model(cwd)
        choices = [Choice(value=info.id, name=info.name, description=info.description) for info in infos]
        if value not in [choice.value for choice in choices]:
            choices.insert(0, Choice(value=value, name=value))
        return Option(id="model", name="Model", value=value, choices=choices, category="model")

    def effort_option(self, cwd: str, model: str) -> Option | None:
        """How hard a model thinks, where it can be told."""
        info = next((each for each in self.models(cwd) if each.id == model), None)
        if info is None or not info.efforts:
            return None
        wanted = self.settings(cwd).settings.coder.effort
        value = wanted if wanted in info.efforts else "default"
        choices = [Choice(value="default", name="Default"), *(Choice(value=e, name=e.title()) for e in info.efforts)]
        return Option(id="effort", name="Effort", value=value, choices=choices, category="thought_level")

    async def model(self, cwd: str, id: str) -> Model:
        """A model, ready to be asked."""
        from accord.coder.models.choose import choose

        return await choose(id, self.settings(cwd).settings.coder, self.keys)

    # -- logging in

    def auth_methods(self) -> list[AuthMethod]:
        from accord.coder.login import auth_methods

        return auth_methods()

    async def login(self, method_id: str) -> None:
        from accord.coder.login import login

        self.logins += 1
        await login(method_id, self.keys)

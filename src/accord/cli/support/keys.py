"""The keys of model providers, for a login inside the terminal client: checked, saved, or used by one agent only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from accord.cli.support.host import AgentLaunch
    from accord.coder.models.providers import Provider
    from accord.config.settings import CoderSettings
    from accord.tui.host import KeyPlace, KeyProvider

CHECK_SECONDS = 30.0
"""How long checking a key may take altogether."""


class ProviderKeys:
    """Implements `accord.tui.host.KeyStore` for the built-in agent."""

    def __init__(self, launch: AgentLaunch, read_settings: Callable[[], CoderSettings]) -> None:
        self._launch = launch
        self._read_settings = read_settings
        self._listed: dict[str, list[str]] = {}
        """The models that a provider listed when it checked a key."""

    @property
    def method(self) -> str:
        from accord.coder.login import KEYS

        return KEYS

    async def list_providers(self) -> list[KeyProvider]:
        from accord.coder.credentials import Keys
        from accord.coder.models.providers import PROVIDERS, known_providers
        from accord.tui.host import KeyProvider

        # A provider whose URL was changed may need no key, but can still have one.
        usual = {each.name for each in PROVIDERS if each.needs_key}
        settings = self._read_settings()
        keys = Keys(self._launch.env)
        await keys.read(settings)
        providers = []
        for each in known_providers(settings, self._launch.env).values():
            if each.key_variables and each.login == "key" and (each.needs_key or each.name in usual):
                key = keys.find(each)
                source = "" if key is None else key.source
                providers.append(KeyProvider(each.name, each.title, source, _default_model(each, settings)))
        return providers

    async def check(self, provider: str, key: str) -> str:
        from accord.coder.login import check_key

        note, self._listed[provider] = await run_in_thread(check_key, self._find(provider), key, timeout=CHECK_SECONDS)
        return note

    def list_models(self, provider: str) -> list[str]:
        return self._listed.get(provider, [])

    async def list_places(self) -> list[KeyPlace]:
        from accord.coder.key_file import KeyFile
        from accord.coder.login import has_keyring
        from accord.tui.host import KeyPlace
        from accord.tui.text import shorten_home

        places = [KeyPlace("keyring", "Save it in the system keyring")] if await run_in_thread(has_keyring) else []
        note = "" if places else "this machine has no secure keyring · "
        return [
            *places,
            KeyPlace("file", "Save it in a file that only you can read", f"{note}{shorten_home(KeyFile().path)}"),
            KeyPlace("process", "Use it until you quit", "it isn't saved"),
        ]

    async def save(self, provider: str, key: str, place: str) -> str:
        from accord.coder.login import save_key

        service = self._find(provider)
        if place == "process":
            self._set_variables(service, key)
            return f"Using this key for {service.title} until you quit; it isn't saved"
        notice = await run_in_thread(partial(save_key, service, key, in_file=place == "file"))
        if variables := self._variables(service):
            # The environment has precedence, and may hold the key that was rejected.
            self._set_variables(service, key)
            notice += f" Your environment also has {' and '.join(variables)}, which wins when Accord starts: unset it."
        return notice

    def needs_restart(self, provider: str, place: str) -> bool:
        return place == "process" or bool(self._variables(self._find(provider)))

    def _find(self, provider: str) -> Provider:
        from accord.coder.models.providers import known_providers

        return known_providers(self._read_settings(), self._launch.env)[provider]

    def _variables(self, service: Provider) -> list[str]:
        """Return the variables of the agent's environment that hold a key of the provider."""
        return [each for each in service.key_variables if self._launch.env.get(each, "").strip()]

    def _set_variables(self, service: Provider, key: str) -> None:
        """Set the key in the environment of the agent, which reads it at its next start."""
        for each in self._variables(service) or [service.variable]:
            self._launch.env[each] = key


def _default_model(service: Provider, settings: CoderSettings) -> str:
    """Return the id of the model to use with a new key of a provider; empty if none is known."""
    from accord.coder.credentials import Keys
    from accord.coder.models.catalog import available

    offered = available(settings, Keys({service.variable: "a key"}))
    return next((each.id for each in offered if each.provider == service.name), "")

"""What the configuration says about the built-in coding agent: its model, how hard that thinks, where models are."""

from __future__ import annotations

from typing import Literal

import msgspec

Effort = Literal["low", "medium", "high"]


class ProviderEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A provider of models: one that is known by its name, set otherwise; or one more, which needs a `base_url`."""

    base_url: str | None = None
    api: Literal["chat", "responses", "anthropic", "google"] | None = None
    """Which protocol it speaks; OpenAI's chat completions unless said otherwise."""
    api_key_env: str | None = None
    """The environment variable that holds its key."""
    models: list[str] = []
    """The names of models to offer besides those that are known."""
    headers: dict[str, str] = {}
    context: int | None = None
    """How many tokens its models read at once, where that is not known."""
    images: bool | None = None
    """Whether its models see pictures, where that is not known."""


class CoderSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the built-in coding agent works with."""

    model: str | None = None
    """The model of new sessions, as `provider:name`."""
    effort: Effort | None = None
    providers: dict[str, ProviderEntry] = {}

    def with_those_of(self, other: CoderSettings) -> CoderSettings:
        """These settings, with another's in front of them."""
        return CoderSettings(
            model=other.model or self.model,
            effort=other.effort or self.effort,
            providers={**self.providers, **other.providers},
        )

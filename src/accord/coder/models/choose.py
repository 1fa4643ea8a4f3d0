"""Which model a session works with, and making it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from accord.coder.keys import Keys
from accord.coder.models import catalog
from accord.coder.models.base import Model, ModelError
from accord.coder.models.services import services

if TYPE_CHECKING:
    from accord.config.coder import CoderSettings


def default_model(settings: CoderSettings | None = None, keys: Keys | None = None) -> str:
    """The id of the model for new sessions: the configured one, else of the first provider with a key, else offline."""
    if settings and settings.model:
        return whole_id(settings.model, settings)
    keys = keys or Keys()
    offered = catalog.available(settings, keys)
    for service in keys.found(settings):
        for info in offered:
            if info.provider == service.name:
                return info.id
    return catalog.OFFLINE


async def choose(id: str, settings: CoderSettings | None = None, keys: Keys | None = None) -> Model:
    """The model with this id; its provider's key is looked for in the keyring as well. See `model`."""
    keys = keys or Keys()
    service = services(settings).get(whole_id(id, settings).partition(":")[0])
    if service is not None and (service.needs_key or service.moved) and keys.find(service) is None:
        await keys.read(settings)
    return model(id, settings, keys)


def model(id: str, settings: CoderSettings | None = None, keys: Keys | None = None) -> Model:
    """The model with this id. Nothing is asked of its provider, and nothing heavy is loaded yet.

    Raises `ModelError` when there is none, or its provider has no key."""
    if id == catalog.OFFLINE:
        from accord.coder.models.offline.brain import OfflineModel

        return OfflineModel()
    if id.startswith("local:"):
        return _local(id.partition(":")[2])
    id = whole_id(id, settings)
    provider, _, name = id.partition(":")
    service = services(settings).get(provider)
    if service is None or not name:
        raise unknown(id, settings)
    if not service.base_url:
        raise ModelError(f"the provider {provider!r} has no base_url; add it to [coder.providers.{provider}]")
    from accord.coder.models.provider import ProviderModel
    from accord.coder.models.trouble import Trouble

    key = (keys or Keys()).find(service)
    if key is None and service.needs_key:
        raise Trouble(service, name, None, settings).no_key()
    return ProviderModel(service, name, key, settings=settings)


def _local(path: str) -> Model:
    """A model in a file of the user's, run on this machine."""
    try:
        module = importlib.import_module("accord.coder.models.local")
    except ModuleNotFoundError:
        raise ModelError("models in files need: pip install 'accord[local]'", kind="model") from None
    made: Model = module.LocalModel(path)
    return made


def whole_id(id: str, settings: CoderSettings | None = None) -> str:
    """An id with its provider: people write `claude-opus-5-5`, or only `openai`."""
    if id in services(settings):
        offered = [info.id for info in catalog.MODELS if info.provider == id]
        named = [f"{id}:{name}" for name in services(settings)[id].models]
        return (named or offered or [id])[0]
    if ":" in id and id.partition(":")[0] in services(settings):
        return id
    for known in catalog.BY_ID:
        if known.partition(":")[2] == id:
            return known
    for service in services(settings).values():
        if id in service.models:
            return f"{service.name}:{id}"
    return id


def unknown(id: str, settings: CoderSettings | None = None) -> ModelError:
    """There is no such model."""
    close = catalog.nearest(id, settings)
    hint = f"did you mean {' or '.join(close)}?" if close else "expected provider:name, as in openai:gpt-5"
    return ModelError(f"there is no model {id!r}: {hint}", kind="model")

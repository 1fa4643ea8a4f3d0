"""Known models, the models available with the user's keys, and the selection of one of them.

Nothing here contacts a provider, so sessions start immediately, with or without a network."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import msgspec

from accord.coder.credentials import Keys
from accord.coder.models.base import Model, ModelError
from accord.coder.models.families import EFFORTS, bare_name
from accord.coder.models.providers import Provider, known_providers
from accord.coder.models.snapshot import UNKNOWN_CONTEXT, ModelInfo, known_models
from accord.version import install_command

if TYPE_CHECKING:
    from accord.coder.credentials import Keys
    from accord.coder.models.cassette import Cassette
    from accord.config.settings import CoderSettings


OFFLINE = "offline"
LOCAL_CONTEXT = 32_000
"""Assumed context window of a local model, if unknown. Small servers silently truncate long requests, which is worse
than compacting early."""

_GATEWAYS: dict[str, int] = {
    "vercel": sys.maxsize,
    "openrouter": sys.maxsize,
    "bedrock": sys.maxsize,
    "copilot": UNKNOWN_CONTEXT,
}
"""The APIs with models of several vendors, and the largest context window to expect there."""

OFFLINE_MODEL = ModelInfo(
    id=OFFLINE,
    name="Offline",
    provider=OFFLINE,
    description="no language model: understands simple requests, needs no key and no network",
    context=200_000,
)


def available(settings: CoderSettings | None = None, keys: Keys | None = None) -> list[ModelInfo]:
    """List the models to offer: of providers with a key or that need none, configured ones, and the offline model."""
    from accord.coder.credentials import Keys as AllKeys

    known = known_providers(settings)
    keys = keys or AllKeys()
    offered: dict[str, ModelInfo] = {}
    for service in known.values():
        if service.needs_key and keys.find(service) is None:
            continue
        names = list(service.models)
        if not (names and service.moved):  # a server with a custom URL has only the configured models
            own = (service.name, service.models_of)
            names += [each.id.partition(":")[2] for each in known_models().values() if each.provider in own]
        for name in names:
            offered.setdefault(f"{service.name}:{name}", describe(service, name))
    chosen = settings.model if settings else None
    provider, _, name = (chosen or "").partition(":")
    if chosen and name and chosen not in offered and provider in known:
        offered[chosen] = describe(known[provider], name)
    return [*offered.values(), OFFLINE_MODEL]


def describe(service: Provider, name: str) -> ModelInfo:
    """Describe a provider's model, with conservative guesses if it's unknown."""
    id = f"{service.name}:{name}"
    known = known_models().get(id)
    if known is None and service.models_of:
        known = _same_model(service, name)
    if known is not None:
        return msgspec.structs.replace(
            known,
            context=service.context or known.context,
            images=known.images if service.images is None else service.images,
        )
    underlying = _underlying_model(service, name)
    if underlying is not None:
        return underlying
    sees = service.images if service.images is not None else service.name in ("anthropic", "openai", "google")
    thinks = service.api in ("anthropic", "google", "responses")
    return ModelInfo(
        id=id,
        name=f"{name} ({service.title})",
        provider=service.name,
        context=service.context or (LOCAL_CONTEXT if service.local else UNKNOWN_CONTEXT),
        efforts=EFFORTS if thinks else (),
        images=sees,
    )


def _underlying_model(service: Provider, name: str) -> ModelInfo | None:
    """Describe an unlisted model by the listed one that it is under another name: a gateway's
    `anthropic/claude-opus-4.5`, or a dated version. Its price is unknown.

    Not for the hosts of open models: many serve them with smaller windows."""
    if service.moved or not service.needs_key:
        return None
    is_gateway = service.api in _GATEWAYS
    translates = is_gateway and service.find_api(name) == service.api
    wanted = bare_name(name)
    for known in known_models().values():
        if (is_gateway or known.provider in (service.name, service.models_of)) and bare_name(known.id) == wanted:
            return msgspec.structs.replace(
                known,
                id=f"{service.name}:{name}",
                name=f"{name} ({service.title})",
                provider=service.name,
                description="",
                # Copilot has smaller windows than the models' vendors.
                context=service.context or min(known.context, _GATEWAYS.get(service.api, known.context)),
                # Gateways translate these for each vendor, but not the vendor's own levels.
                efforts=tuple(each for each in known.efforts if each in EFFORTS) if translates else known.efforts,
                images=known.images if service.images is None else service.images,
                price=None,
                price_step=None,
            )
    return None


def _same_model(service: Provider, name: str) -> ModelInfo | None:
    """Return the facts about a model from the provider that has the same models."""
    known = known_models().get(f"{service.models_of}:{name}")
    if known is None:
        return None
    price = None if service.login == "browser" else known.price  # a plan has a fixed price
    described = {"name": f"{known.name} ({service.title})", "provider": service.name, "price": price}
    return msgspec.structs.replace(known, id=f"{service.name}:{name}", **described)


def nearest(id: str, settings: CoderSettings | None = None) -> list[str]:
    """Return the known ids most similar to an unknown one."""
    from accord.config.agents import nearest as alike

    ids = [*known_models(), OFFLINE]
    for service in known_providers(settings).values():
        ids += [f"{service.name}:{name}" for name in service.models]
    if found := alike(id, ids):
        return found
    # The provider may be missing or wrong, so compare names only.
    bare = {each.partition(":")[2] or each: each for each in ids}
    return [bare[each] for each in alike(id.partition(":")[2] or id, bare)]


def default_model(settings: CoderSettings | None = None, keys: Keys | None = None) -> str:
    """Return the id of the model for new sessions: configured, from the first provider with a key, or offline."""
    if settings and settings.model:
        return whole_id(settings.model, settings)
    keys = keys or Keys()
    offered = available(settings, keys)
    for service in keys.providers_with_key(settings):
        for info in offered:
            if info.provider == service.name:
                return info.id
    return OFFLINE


async def choose(
    id: str, settings: CoderSettings | None = None, keys: Keys | None = None, cassette: Cassette | None = None
) -> Model:
    """Like `model`, but also look for the provider's key in the keyring."""
    keys = keys or Keys()
    service = known_providers(settings).get(whole_id(id, settings).partition(":")[0])
    if service is not None and (service.needs_key or service.moved) and keys.find(service) is None:
        await keys.read(settings)
    return model(id, settings, keys, cassette)


def model(
    id: str, settings: CoderSettings | None = None, keys: Keys | None = None, cassette: Cassette | None = None
) -> Model:
    """Return the model with this id, without contacting its provider or loading its library.

    With a cassette, its responses are recorded or replayed. Replaying needs no key.
    Raises `ModelError` if there is no such model, or its provider has no key."""
    if id == OFFLINE:
        from accord.coder.offline.model import OfflineModel

        return OfflineModel()
    if id.startswith("local:"):
        return _local(id.partition(":")[2])
    id = whole_id(id, settings)
    provider, _, name = id.partition(":")
    service = known_providers(settings).get(provider)
    if service is None or not name:
        raise unknown_model(id, settings)
    if not service.base_url:
        if service.url_variables:
            raise ModelError(f"{service.title} needs its address: set {service.url_variables[0]}", kind="key")
        raise ModelError(f"the provider {provider!r} has no base_url; add it to [coder.providers.{provider}]")
    from accord.coder.models.errors import ProviderErrors
    from accord.coder.models.pydantic_ai.model import ProviderModel

    key = (keys or Keys()).find(service)
    replays = cassette is not None and not cassette.is_recording
    if key is None and service.needs_key and not replays:
        raise ProviderErrors(service, name, None, settings).no_key()
    if cassette is not None:
        service = msgspec.structs.replace(service, cassette=cassette)
    return ProviderModel(service, name, key, settings=settings)


def _local(path: str) -> Model:
    """Return a model that runs on this machine, from a file of the user."""
    try:
        module = importlib.import_module("accord.coder.models.local")
    except ModuleNotFoundError:
        raise ModelError(f"local models need: {install_command('local')}", kind="model") from None
    made: Model = module.LocalModel(path)
    return made


def whole_id(id: str, settings: CoderSettings | None = None) -> str:
    """Complete an id with its provider: users write `claude-opus-5-5`, or just `openai`."""
    if id in known_providers(settings):
        offered = [info.id for info in known_models().values() if info.provider == id]
        named = [f"{id}:{name}" for name in known_providers(settings)[id].models]
        return (named or offered or [id])[0]
    if ":" in id and id.partition(":")[0] in known_providers(settings):
        return id
    for known in known_models():
        if known.partition(":")[2] == id:
            return known
    for service in known_providers(settings).values():
        if id in service.models:
            return f"{service.name}:{id}"
    return id


def unknown_model(id: str, settings: CoderSettings | None = None) -> ModelError:
    """Return the error for an unknown model."""
    close = nearest(id, settings)
    hint = f"did you mean {' or '.join(close)}?" if close else "expected provider:name, as in openai:gpt-5"
    return ModelError(f"there is no model {id!r}: {hint}", kind="model")


def summarize(info: ModelInfo) -> str:
    """Return a model's context window and price in a few words; empty for the offline model."""
    if info.id == OFFLINE:
        return ""
    context = (
        f"{info.context / 1_000_000:.3g}M context" if info.context >= 1_000_000 else f"{info.context // 1000}k context"
    )
    price = f"${info.price.input:g} in, ${info.price.output:g} out per million tokens" if info.price is not None else ""
    return " · ".join(filter(None, (context, price)))

"""Facts about models: a snapshot shipped with Accord, and a newer one from models.dev if the user asked for it.

Nothing is downloaded unless `refresh` is called."""

from __future__ import annotations

import os
import urllib.request
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from accord.coder.models.families import EFFORTS, family
from accord.config.directories import data_directory
from accord.errors import AccordError
from accord.model.record import Record
from accord.version import __version__

BUNDLED = Path(__file__).with_name("models.json")
FILE = "models.json"
URL = "https://models.dev/api.json"
URL_VARIABLE = "ACCORD_MODELS_URL"
"""Environment variable with another URL, for mirrors."""
TIMEOUT_SECONDS = 30.0
UNKNOWN_CONTEXT = 128_000
"""Assumed context window of a model, if unknown."""
_MAX_BYTES = 32 * 1024 * 1024
_STEP = 200_000
"""Where models.dev's second price begins."""


class Price(Record, omit_defaults=True):
    """Prices in US dollars per million tokens, up to the price step."""

    input: float
    output: float
    cached_read: float | None = None
    cached_write: float | None = None


class ModelInfo(Record, omit_defaults=True):
    """A model as offered to users."""

    id: str
    """`provider:name`."""
    name: str
    provider: str = ""
    description: str = ""
    context: int = UNKNOWN_CONTEXT
    """Size of the context window, in tokens."""
    efforts: tuple[str, ...] = ()
    """Supported reasoning efforts."""
    images: bool = False
    price: Price | None = None
    price_step: int | None = None
    """The size of a request, in tokens, above which all of it costs more."""


class Snapshot(Record):
    """A list of models, and the day it was made."""

    date: str
    """As `2026-11-18`."""
    models: list[ModelInfo]


class RefreshError(AccordError):
    """The list of models couldn't be downloaded. The message says why."""


class _Limit(msgspec.Struct):
    context: int = 0


class _Cost(msgspec.Struct):
    input: float = 0.0
    output: float = 0.0
    cache_read: float | None = None
    cache_write: float | None = None
    context_over_200k: Any = None


class _Modalities(msgspec.Struct):
    input: list[str] = []


class _Model(msgspec.Struct):
    """A model as models.dev describes it, as far as we use it."""

    id: str
    name: str = ""
    reasoning: bool = False
    tool_call: bool = False
    status: str = ""
    limit: _Limit = msgspec.field(default_factory=_Limit)
    cost: _Cost | None = None
    modalities: _Modalities = msgspec.field(default_factory=_Modalities)


class _Provider(msgspec.Struct):
    models: dict[str, msgspec.Raw] = {}


def known_models() -> dict[str, ModelInfo]:
    """Return all known models by id, in the order in which they are offered."""
    path = _refreshed_file()
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return _load(None, 0)
    return _load(path, changed)


def snapshot_date() -> str:
    """Return the day of the list in use: that of the last refresh, or of the bundled one."""
    try:
        return _read(_refreshed_file()).date
    except (OSError, msgspec.MsgspecError):
        return _read(BUNDLED).date


def refresh(url: str | None = None, *, timeout: float = TIMEOUT_SECONDS) -> int:
    """Download the current list of models and save it; blocks. Returns how many models it has for our providers.

    Raises `RefreshError`; then the old list stays."""
    url = url or os.environ.get(URL_VARIABLE) or URL
    found = _parse(_download(url, timeout))
    if not found:
        raise RefreshError(f"{url} has no models of a provider that Accord knows; nothing was changed")
    path = _refreshed_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(msgspec.json.encode(Snapshot(date=date.today().isoformat(), models=found)))
        temporary.replace(path)
    except OSError as error:
        raise RefreshError(f"Couldn't save {path}: {error.strerror or error}") from None
    return len(found)


def _refreshed_file() -> Path:
    return data_directory() / FILE


@lru_cache(maxsize=4)
def _load(path: Path | None, changed: int) -> dict[str, ModelInfo]:
    """Load the bundled models, and those of the file at `path`, which was changed at that time.

    Bundled models come first, in their order: it is a recommendation. Facts of the newer list win, except efforts,
    which models.dev doesn't have."""
    models = {info.id: _with_provider(info) for info in _read(BUNDLED).models}
    if path is None:
        return models
    try:
        newer = _read(path).models
    except (OSError, msgspec.MsgspecError):  # an old or damaged file; `refresh` replaces it
        return models
    for info in newer:
        known = models.get(info.id)
        if known is not None:
            info = msgspec.structs.replace(
                info, name=known.name, description=known.description, efforts=known.efforts or info.efforts
            )
        models[info.id] = _with_provider(info)
    return models


def _read(path: Path) -> Snapshot:
    return msgspec.json.decode(path.read_bytes(), type=Snapshot)


def _with_provider(info: ModelInfo) -> ModelInfo:
    return msgspec.structs.replace(info, provider=info.id.partition(":")[0])


def _download(url: str, timeout: float) -> bytes:
    if urlsplit(url).scheme not in ("https", "http"):
        raise RefreshError(f"{url} isn't a web address")
    request = urllib.request.Request(url, headers={"User-Agent": f"accord/{__version__}"})
    host = urlsplit(url).hostname or ""
    direct = [urllib.request.ProxyHandler({})] if host == "localhost" or host.startswith("127.") else []
    try:
        with urllib.request.build_opener(*direct).open(request, timeout=timeout) as answer:
            data: bytes = answer.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise RefreshError(f"Couldn't download {url}: {error}; the old list stays") from None
    if len(data) > _MAX_BYTES:
        raise RefreshError(f"{url} is larger than {_MAX_BYTES >> 20} MiB; the old list stays")
    return data


def _parse(data: bytes) -> list[ModelInfo]:
    from accord.coder.models.providers import PROVIDERS

    ours = {provider.catalog or provider.name: provider for provider in PROVIDERS if provider.needs_key}
    try:
        listed = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError as error:
        raise RefreshError(f"the list of models is invalid ({error}); the old list stays") from None
    found = []
    for name, raw in listed.items():
        if name not in ours:
            continue
        for each in _decode(raw, _Provider, _Provider()).models.values():
            model = _decode(each, _Model, None)
            if model is not None and model.tool_call and model.status != "deprecated" and model.limit.context > 0:
                found.append(_describe(ours[name].name, ours[name].title, model))
    return found


def _decode(raw: msgspec.Raw, kind: Any, otherwise: Any) -> Any:
    """Decode one entry. An invalid one must not make all others unusable."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.MsgspecError:
        return otherwise


def _describe(provider: str, title: str, model: _Model) -> ModelInfo:
    cost = model.cost
    price = None
    if cost is not None and cost.input:
        price = Price(input=cost.input, output=cost.output, cached_read=cost.cache_read, cached_write=cost.cache_write)
    thinks = model.reasoning and (family(model.id) or provider == "xai")
    return ModelInfo(
        id=f"{provider}:{model.id}",
        name=model.name or f"{model.id} ({title})",
        context=model.limit.context,
        efforts=EFFORTS if thinks else (),
        images="image" in model.modalities.input,
        price=price,
        price_step=_STEP if price is not None and cost is not None and cost.context_over_200k else None,
    )

"""Asks a provider which models it has: a server on this machine, whose models nobody can list beforehand; or any, to
see whether a key is good. Only when somebody wants to know: never when a session starts."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import msgspec

from accord.coder.models.base import ModelError
from accord.coder.models.catalog import ModelInfo, described
from accord.coder.models.services import Service, services
from accord.config.mask import masked
from accord.version import __version__

if TYPE_CHECKING:
    from accord.coder.keys import Keys
    from accord.config.coder import CoderSettings

SHORT = 2.0
"""How long a server on this machine may take to list its models, in seconds."""
_MOST = 4 * 1024 * 1024


async def discover(settings: CoderSettings | None, keys: Keys, *, patience: float = SHORT) -> list[ModelInfo]:
    """The models of the servers on this machine, of those that answer in time."""

    async def models(service: Service) -> list[ModelInfo]:
        key = keys.find(service)
        try:
            names = await asyncio.to_thread(listed, service, key.value if key else None, patience)
        except ModelError:
            return []
        return [described(service, name) for name in names]

    local = [each for each in services(settings).values() if each.local and each.api == "chat"]
    return [info for found in await asyncio.gather(*map(models, local)) for info in found]


def listed(service: Service, key: str | None, patience: float) -> list[str]:
    """The names of a provider's models. Blocks. `ModelError` says why there are none, with `kind="key"` for the key."""
    path, headers = _question(service, key)
    headers = {"User-Agent": f"accord/{__version__}", **service.headers, **headers}
    request = urllib.request.Request(f"{service.base_url}{path}", headers=headers)
    direct = [urllib.request.ProxyHandler({})] if service.local else []
    try:
        with urllib.request.build_opener(_Nowhere(), *direct).open(request, timeout=patience) as answer:
            return _names(msgspec.json.decode(answer.read(_MOST)))
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(service, error) from None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        why = getattr(error, "reason", None) or error
        raise ModelError(f"{service.title} cannot be asked ({masked(str(why))})", retry=True) from None


def _refused(service: Service, error: urllib.error.HTTPError) -> ModelError:
    said = error.read(_MOST).decode("utf-8", "replace")
    if error.code in (401, 403) or (error.code == 400 and "API_KEY_INVALID" in said):
        return ModelError(f"{service.title} does not accept this key ({error.code})", kind="key")
    return ModelError(f"{service.title} does not say which models it has ({error.code} {error.reason})")


class _Nowhere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a key is for the one it was made for."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _question(service: Service, key: str | None) -> tuple[str, dict[str, str]]:
    match service.api:
        case "anthropic":
            return "/v1/models?limit=100", {"Authorization": f"Bearer {key}", "anthropic-version": "2026-10-21"}
        case "google":
            return "/v1beta/models?pageSize=200", {"x-goog-api-key": key or ""}
        case _:
            # OpenRouter lists its models to everybody; only this tells a good key.
            path = "/key" if service.name == "openrouter" and not service.moved else "/models"
            return path, {"Authorization": f"Bearer {key}"} if key else {}


def _names(answer: Any) -> list[str]:
    rows = answer.get("data") or answer.get("models") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return []
    found = [row.get("id") or row.get("name") for row in rows if isinstance(row, dict)]
    return [name.removeprefix("models/") for name in found if isinstance(name, str) and name]

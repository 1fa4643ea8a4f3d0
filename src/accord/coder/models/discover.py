"""Ask a provider for its models, which also checks a key. Done on request only, never when a session starts."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from typing import Any

import msgspec

from accord.coder.models.base import ModelError
from accord.coder.models.providers import Provider
from accord.config.redaction import redact_text
from accord.version import __version__

_MAX_BYTES = 4 * 1024 * 1024


def list_models(provider: Provider, key: str | None, timeout: float) -> list[str]:
    """List the names of a provider's models; blocks. Raises `ModelError`, with `kind="key"` if the key is invalid."""
    path, headers = _endpoint(provider, key)
    headers = {"User-Agent": f"accord/{__version__}", **provider.headers, **headers}
    request = urllib.request.Request(f"{provider.base_url}{path}", headers=headers)
    direct = [urllib.request.ProxyHandler({})] if provider.local else []
    try:
        with urllib.request.build_opener(NoRedirects(), *direct).open(request, timeout=timeout) as answer:
            return _names(msgspec.json.decode(answer.read(_MAX_BYTES)))
    except urllib.error.HTTPError as error:
        with error:
            raise _describe_response(provider, error) from None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        why = error.reason if isinstance(error, urllib.error.URLError) else error
        where = redact_text(provider.base_url)
        if isinstance(why, socket.gaierror):
            words = f"Couldn't reach {provider.title}: unknown host, or no network; check {where}"
        elif isinstance(why, ConnectionRefusedError):
            words = f"Couldn't reach {provider.title}: {where} refused the connection"
        else:
            words = f"Couldn't get the models of {provider.title}: {redact_text(str(why))}"
        raise ModelError(words, retry=True) from None


def _describe_response(provider: Provider, error: urllib.error.HTTPError) -> ModelError:
    body = error.read(_MAX_BYTES).decode("utf-8", "replace")
    if error.code in (401, 403) or (error.code == 400 and "API_KEY_INVALID" in body):
        return ModelError(f"{provider.title} rejected this key (HTTP {error.code})", kind="key")
    return ModelError(f"Couldn't get the models of {provider.title} (HTTP {error.code} {error.reason})")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Doesn't follow redirects, because they would send the key to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _endpoint(provider: Provider, key: str | None) -> tuple[str, dict[str, str]]:
    match provider.api:
        case "anthropic":
            return "/v1/models?limit=100", {"Authorization": f"Bearer {key}", "anthropic-version": "2026-10-21"}
        case "google":
            return "/v1beta/models?pageSize=200", {"x-goog-api-key": key or ""}
        case _:
            # OpenRouter lists its models without a key; only this path checks it.
            path = "/key" if provider.name == "openrouter" and not provider.moved else "/models"
            return path, {"Authorization": f"Bearer {key}"} if key else {}


def _names(answer: Any) -> list[str]:
    rows = answer.get("data") or answer.get("models") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return []
    found = [row.get("id") or row.get("name") for row in rows if isinstance(row, dict)]
    return [name.removeprefix("models/") for name in found if isinstance(name, str) and name]

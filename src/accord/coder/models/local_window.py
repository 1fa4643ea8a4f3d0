"""The true context window of a model on a local server.

Local servers load a model with a window that is often much smaller than the model's own: 4,096 tokens in Ollama,
unless the user changed it. Longer requests lose their beginning without an error, so the window must be known
before the first request."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from accord.coder.models.discover import NoRedirects
from accord.coder.models.providers import Provider
from accord.model.record import Record
from accord.version import __version__

WANTED = 32_768
"""The window to ask for if the server lets us choose and the user didn't choose: enough for real work, and small enough
for the memory of most machines."""
OLLAMA_DEFAULT = 4_096
"""Ollama's own default. A machine with a large GPU may have a larger one, which shows when a model is loaded."""
TIMEOUT_SECONDS = 5.0
_MAX_BYTES = 4 * 1024 * 1024


class Window(Record):
    """A model's context window in tokens."""

    size: int
    """The number of tokens that the server keeps of a request."""
    is_chosen: bool = False
    """Whether `size` is our choice, to be sent with each request."""
    advice: str = ""
    """How the user can enlarge it."""


def has_window(provider: Provider, name: str) -> bool:
    """Return whether a provider's server can be asked for the window of a model."""
    return provider.name in _FINDERS and not name.endswith("-cloud")  # Ollama runs those elsewhere


def find_window(provider: Provider, name: str, key: str | None = None) -> Window | None:
    """Ask the server for a model's window; blocks. Return None if it doesn't report one."""
    try:
        return _FINDERS[provider.name](_Server(provider, key), provider, name)
    except (OSError, ValueError, TypeError, AttributeError, KeyError, IndexError, msgspec.MsgspecError):
        return None  # another server, another version, or none: the request itself will report the problem


class _Server:
    """A local server's own API, beside the one for requests to models."""

    def __init__(self, provider: Provider, key: str | None) -> None:
        self._root = provider.base_url.removesuffix("/v1")
        self._headers = {"User-Agent": f"accord/{__version__}", "Content-Type": "application/json", **provider.headers}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        direct = [urllib.request.ProxyHandler({})] if provider.local else []
        self._opener = urllib.request.build_opener(NoRedirects(), *direct)

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a GET request, or a POST request with a body, and return the decoded response."""
        data = msgspec.json.encode(body) if body is not None else None
        request = urllib.request.Request(f"{self._root}{path}", data=data, headers=self._headers)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return msgspec.json.decode(answer.read(_MAX_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise


def _ollama(server: _Server, provider: Provider, name: str) -> Window:
    about = server.ask("/api/show", {"model": name})
    facts = about.get("model_info") or {}
    supported = next((size for key, size in facts.items() if key.endswith(".context_length") and _is_size(size)), None)
    if provider.context is not None:
        return Window(size=min(provider.context, supported or provider.context), is_chosen=True)
    sizes = [_loaded_in_ollama(server, name), _parameter(about.get("parameters"), "num_ctx")]
    # A larger window that is in use stays: another size would load the model again.
    known = max((size for size in sizes if size is not None), default=OLLAMA_DEFAULT)
    wanted = min(WANTED, supported or WANTED)
    return Window(size=max(known, wanted), is_chosen=True)


def _loaded_in_ollama(server: _Server, name: str) -> int | None:
    full = name if ":" in name else f"{name}:latest"
    for model in server.ask("/api/ps").get("models") or []:
        if full in (model.get("model"), model.get("name")) and _is_size(model.get("context_length")):
            size: int = model["context_length"]
            return size
    return None


def _parameter(parameters: Any, name: str) -> int | None:
    """Return a number from the parameters of a Modelfile: lines with a name and a value."""
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        words = line.split()
        if len(words) == 2 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    return None


def _lmstudio(server: _Server, provider: Provider, name: str) -> Window | None:
    about = server.ask(f"/api/v0/models/{quote(name)}")
    loaded, supported = about.get("loaded_context_length"), about.get("max_context_length")
    if not _is_size(loaded):
        return None  # it is loaded by the first request, with a window that depends on the user's settings
    upto = f" (up to {supported:,})" if _is_size(supported) and supported > loaded else ""
    return Window(size=loaded, advice=f"load the model with a larger context length{upto} in LM Studio")


def _llamacpp(server: _Server, provider: Provider, name: str) -> Window | None:
    size = server.ask("/props")["default_generation_settings"]["n_ctx"]
    return Window(size=size, advice="start llama-server with a larger --ctx-size") if _is_size(size) else None


def _vllm(server: _Server, provider: Provider, name: str) -> Window | None:
    for model in server.ask("/v1/models")["data"]:
        if model.get("id") == name and _is_size(model.get("max_model_len")):
            return Window(size=model["max_model_len"], advice="start vLLM with a larger --max-model-len")
    return None


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_FINDERS = {"ollama": _ollama, "lmstudio": _lmstudio, "llamacpp": _llamacpp, "vllm": _vllm}

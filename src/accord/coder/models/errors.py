"""Turn the exceptions of provider libraries into `ModelError`s: the provider, the problem, what to do, and whether to
retry."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from accord.coder.models import catalog
from accord.coder.models.base import ModelError
from accord.coder.models.providers import Provider
from accord.coder.models.pydantic_ai.events import TruncatedStream
from accord.config.redaction import redact_text

if TYPE_CHECKING:
    from accord.coder.credentials import Key
    from accord.config.settings import CoderSettings

_MAX_CHARACTERS = 400
_TOO_LONG = re.compile(
    r"\bcontext (size|length|window|limit)\b"  # OpenAI, Anthropic, OpenRouter, DeepSeek, Groq, llama.cpp, LM Studio, …
    r"|\bprompt( is)? too long\b"  # Anthropic, Fireworks, Ollama
    r"|\binput is too long\b"  # Bedrock
    r"|\bmaximum (prompt|model) length\b"  # xAI, vLLM
    r"|\bexceeds? max length\b"  # Z.ai
    r"|\bexceeded model token limit\b"  # Moonshot AI
    r"|\bexceed the configured limit\b"  # OpenAI
    r"|\b(input |prompt )token count\b.* exceeds\b"  # Google, GitHub Copilot
    r"|`inputs` tokens \+ `max_new_tokens` must be"  # Together
    r"|\breduce the length of the (messages|prompt|input)\b"  # Groq, Cerebras
    r"|\btoo large for model with\b"  # Mistral
    r"|\brange of input length should be\b"  # Alibaba
    r"|\btoo many (input )?tokens\b(?!.*\b(wait|minute|day)\b)"  # Cohere, Bedrock; otherwise a limit of the rate
    r"|\btoken limit exceeded\b|\bexceeds? the limit of \d+ tokens\b"
    r"|\bexceeds? (the )?max(imum)?( allowed)? (input|token|prompt|sequence)\b"  # DeepInfra, Databricks
    r"|\bmaximum (supported )?sequence length\b"  # SambaNova
    r"|`inputs` must have less than"  # Text Generation Inference
    r"|\bn_ctx\b"  # llama.cpp
    r"|Prompt 超长|上下文.{0,20}超"  # Zhipu
    r"|context_length_exceeded|exceed_context_size",
    re.IGNORECASE,
)
"""How servers report a request that is too long for the model."""
_TOO_LONG_STATUSES = (400, 413, 422, 500)
"""The HTTP statuses that come with such a report; llama.cpp uses 500."""


class ProviderErrors:
    """The errors of one model of one provider."""

    def __init__(self, provider: Provider, name: str, key: Key | None, settings: CoderSettings | None = None) -> None:
        self.provider = provider
        self.name = name
        self.key = key
        self.settings = settings

    def translate(self, error: Exception, *, started: bool) -> ModelError:
        """Translate an exception of the provider's library. `started`: part of the reply had already arrived."""
        from pydantic_ai import exceptions as theirs

        match error:
            case ModelError():
                return error
            case _ if isinstance(error, TruncatedStream) or (not started and "ended without content" in str(error)):
                return self._report("stopped mid-response; try again", retry=True)
            case theirs.ModelRequestTimeout() | theirs.ModelTimeoutError():
                return self._report("timed out; try again", retry=True)
            case theirs.ModelConnectionError():
                return self._connection(error, started=started)
            case theirs.ModelHTTPError():
                return self._refusal(error)
            case theirs.UserError() | theirs.ModelAPIError() if self.provider.login == "browser":
                return self.no_key(f"({self._sanitize(str(error))})")  # its library couldn't renew the login
            case _:
                return self._invalid_response(error, started=started)

    def _refusal(self, error: Any) -> ModelError:
        """Translate an HTTP error."""
        from pydantic_ai import exceptions as theirs

        words = self._words(error.body)
        cassette = self.provider.cassette
        if cassette is not None and not cassette.is_recording and str(cassette.file) in words:
            return ModelError(f"Couldn't replay{words}")
        details = f"({error.status_code}{words})"
        if error.status_code == 413 or (error.status_code in _TOO_LONG_STATUSES and _TOO_LONG.search(details)):
            return self._too_long(details)
        match error:
            case theirs.ModelAuthenticationError():
                return self.no_key(details)
            case theirs.ModelNotFoundError():
                return self._no_model(details)
            case theirs.ModelContextWindowExceededError():
                return self._too_long(details)
            case theirs.ModelQuotaExceededError():
                return self._report(f"reports that the account is out of credit {details}; see its billing page")
            case theirs.ModelRateLimitError():
                return self._report(f"is limiting the request rate {details}", retry=True, after=error.retry_after)
            case theirs.ModelOverloadedError() | theirs.ModelUnavailableError():
                return self._report(f"is overloaded {details}", retry=True, after=error.retry_after)
            case theirs.ModelServerError():
                return self._report(f"failed {details}", retry=True, after=error.retry_after)
        retry = error.status_code in (408, 409, 425) or error.provider_retry_hint is True
        return self._report(f"rejected the request {details}", retry=retry, after=error.retry_after)

    def no_key(self, details: str = "") -> ModelError:
        """Return the error for a missing or rejected key."""
        provider, key = self.provider, self.key
        login = f"accord login {provider.name}"
        if provider.credentials:
            verb = "needs" if key is None else "rejected"
            message = f"{provider.title} {verb} {provider.credentials} {details}".rstrip() + f": {provider.login_hint}"
        elif key is None:
            words = f"{provider.title} needs a key {details}".rstrip()
            message = f"{words}: {provider.login_hint}"
        elif key.kind == "environment":
            message = (
                f"{provider.title} rejected the key in {key.source} {details}: change that variable, or unset it and "
                f"run: {login}; or choose another model"
            )
        else:
            place = "in the keyring" if key.kind == "keyring" else f"in {key.source}"
            message = f"{provider.title} rejected the key {place} {details}: run: {login}; or choose another model"
        return ModelError(message, kind="key", details=self._about_key())

    def _about_key(self) -> dict[str, Any]:
        """Describe the key and what the user can do, for clients that offer it."""
        key = self.key
        enter = "Enter a key" if key is None else "Enter another key"
        return {
            "provider": self.provider.name,
            "providerTitle": self.provider.title,
            "rejected": key is not None,
            "key": {"kind": key.kind, "source": key.source} if key is not None else None,
            "variable": self.provider.variable,
            "actions": [
                {"id": "enter_key", "title": enter, "authMethod": "login", "args": ["login", self.provider.name]},
                {"id": "choose_model", "title": "Choose another model", "configOption": "model"},
            ],
        }

    def _no_model(self, details: str) -> ModelError:
        id = f"{self.provider.name}:{self.name}"
        close = [each for each in catalog.nearest(id, self.settings) if each != id]
        hint = f"did you mean {' or '.join(close)}?" if close else "choose another model"
        return ModelError(f"{self.provider.title} has no model {self.name!r} {details}: {hint}", kind="model")

    def _too_long(self, details: str) -> ModelError:
        return ModelError(f"the conversation exceeds the context window of {self.name} {details}", kind="context")

    def _connection(self, error: Exception, *, started: bool) -> ModelError:
        if started:
            return self._report(f"dropped the connection mid-response ({self._why(error)}); try again", retry=True)
        where = redact_text(self.provider.base_url)
        causes = list(_causes(error))
        if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
            return self._cannot_reach(f"its certificate isn't trusted ({self._why(error)}); check {where}")
        if any(isinstance(each, ssl.SSLError) for each in causes):
            return self._cannot_reach(f"the TLS connection failed ({self._why(error)}); check {where}")
        if any(isinstance(each, socket.gaierror) for each in causes):
            return self._cannot_reach(f"unknown host, or no network; check {where}", retry=True, max_retries=1)
        if any(isinstance(each, ConnectionRefusedError) for each in causes):
            if self.provider.local:
                return self._cannot_reach(f"nothing is listening at {where}; start it, or change its base_url")
            return self._cannot_reach(f"{where} refused the connection", retry=True)
        return self._cannot_reach(f"{self._why(error)} ({where})", retry=True)

    def _invalid_response(self, error: Exception, *, started: bool) -> ModelError:
        """Translate an error in a response that the library doesn't understand."""
        where = redact_text(self.provider.base_url)
        details = self._sanitize(str(error) or type(error).__name__)
        if _TOO_LONG.search(details):  # reported inside the stream
            return self._too_long(f"({details})")
        hint = "try again" if started else f"is {where} the right address?"
        return self._report(f"sent an invalid response ({details}); {hint}", retry=started)

    def _words(self, body: object) -> str:
        """Return the message in the body of an HTTP error."""
        found: Any = body
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict):
            inner = found.get("error", found)
            if isinstance(inner, dict):
                inner = inner.get("message") or inner.get("detail") or inner.get("type")
            found = inner
        if not isinstance(found, str) or not found.strip():
            return ""
        return ": a web page" if "<html" in found.lower() else f": {self._sanitize(found)}"

    def _why(self, error: Exception) -> str:
        """Return the message of the innermost cause that has one."""
        words = [str(each) for each in _causes(error) if str(each)]
        return self._sanitize(words[-1] if words else type(error).__name__)

    def _sanitize(self, text: str) -> str:
        """Sanitize a provider's message: one line, truncated, without the key."""
        secrets = {"API_KEY": self.key.value} if self.key else {}
        text = redact_text(" ".join(text.split()), secrets)
        return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"

    def _report(self, words: str, *, retry: bool = False, after: float | None = None) -> ModelError:
        return ModelError(f"{self.provider.title} {words}", retry=retry, after=after)

    def _cannot_reach(self, words: str, *, retry: bool = False, max_retries: int | None = None) -> ModelError:
        return ModelError(f"Couldn't reach {self.provider.title}: {words}", retry=retry, max_retries=max_retries)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and its causes."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        waiting.append(current.__cause__ or current.__context__)

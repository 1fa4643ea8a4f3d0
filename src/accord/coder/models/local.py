"""A local model: the user's GGUF file, run with xllamacpp.

It runs in a separate process (`local_server`) for three reasons: a crash in native code ends the process, native code
must not print to the agent's stdout, and changing the model must free its memory. The process serves OpenAI's API on
the loopback interface with a random key, so it's used like any other provider."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from accord.coder.models.base import Model, ModelError, Piece, Request
from accord.coder.models.catalog import LOCAL_CONTEXT
from accord.version import install_command

if TYPE_CHECKING:
    from accord.coder.models.pydantic_ai.model import ProviderModel
    from accord.process.child import Child

CONTEXT_VARIABLE = "ACCORD_LOCAL_CONTEXT"
"""Environment variable with the size of the context window in tokens, which determines the memory it takes."""
LOAD_TIMEOUT_SECONDS = 600.0
"""Large models on slow disks take minutes to load."""
EXIT_TIMEOUT_SECONDS = 1.0
"""How long the process may take to exit after a failed response."""
MAGIC = b"GGUF"
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "local_server.py")


class LoadRequest(msgspec.Struct):
    """The first line to the process."""

    path: str
    context: int
    key: str


class Ready(msgspec.Struct):
    """The reply of the process once the model is loaded."""

    address: str
    context: int


class LocalModel(Model):
    """A GGUF file. The first request loads it."""

    def __init__(self, path: str, *, context: int | None = None, timeout: float = LOAD_TIMEOUT_SECONDS) -> None:
        self.path: str = os.path.abspath(os.path.expanduser(path))
        self.id: str = f"local:{path}"
        self.name: str = f"{os.path.basename(path)} (local)"
        self.context = context or _wanted_context()
        self._timeout = timeout
        self._child: Child | None = None
        self._inner: ProviderModel | None = None
        self._starting = asyncio.Lock()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Request the next reply; see `Model.stream`."""
        inner = await self._load()
        child = self._child
        try:
            async with aclosing(inner.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except ModelError as error:
            raise await _describe_exit(child, self.name) or error from error

    async def _load(self) -> ProviderModel:
        """Return the client of the process, which is started once, and again after it exited."""
        async with self._starting:
            if self._child is not None and self._child.status is not None:
                await self._end()
            if self._inner is None:
                check(self.path)
                key = secrets.token_urlsafe(24)
                ready = await self._start(LoadRequest(self.path, self.context, key))
                self.context: int = ready.context
                self._inner = _client(ready, key)
            return self._inner

    async def _start(self, request: LoadRequest) -> Ready:
        from accord.process.child import Child
        from accord.process.python import python

        child = self._child = await Child.start(python(SERVER))
        try:
            async with asyncio.timeout(self._timeout):
                line = await asyncio.to_thread(_exchange, child, msgspec.json.encode(request) + b"\n")
            return msgspec.json.decode(line, type=Ready)
        except BaseException as error:
            child.kill()  # also unblocks the thread that waits for its reply
            await self._end()
            if isinstance(error, TimeoutError):
                raise ModelError(f"Loading {self.path} took longer than {self._timeout:g} s", kind="model") from None
            if isinstance(error, msgspec.DecodeError):
                cause = find_cause(await child.final_stderr())
                raise ModelError(f"xllamacpp couldn't load {self.path}: {cause}", kind="model") from None
            raise

    async def _end(self) -> None:
        child, self._child = self._child, None
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()
        if child is not None:
            await child.stop(stdin_grace=2.0)

    async def close(self) -> None:
        """End the process, which frees its memory."""
        async with self._starting:
            await self._end()


def check(path: str) -> None:
    """Raise `ModelError` unless the file is a GGUF file and xllamacpp is installed."""
    if find_spec("xllamacpp") is None:
        raise ModelError(f"a GGUF file needs xllamacpp: {install_command('local')}", kind="model")
    try:
        with open(path, "rb") as file:
            if file.read(4) != MAGIC:
                raise ModelError(f"{path} isn't a GGUF file; download one, or convert your model", kind="model")
    except OSError as error:
        raise ModelError(f"Couldn't read {path}: {error.strerror or error}", kind="model") from None


def find_cause(stderr: str) -> str:
    """Find the problem in the process's standard error: its first error messages, or its last lines."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    complaints = [re.sub(r"^[\d.]+ E\s+", "", line) for line in lines if re.match(r"[\d.]+ E ", line)]
    return "; ".join(dict.fromkeys(complaints[:2] or lines[-2:])) or "no error message"


def _wanted_context() -> int:
    value = os.environ.get(CONTEXT_VARIABLE, "")
    return int(value) if value.isdecimal() and int(value) >= 512 else LOCAL_CONTEXT


async def _describe_exit(child: Child | None, name: str) -> ModelError | None:
    """Return the error if the process exited during a response; the next request starts it again."""
    from accord.process.child import describe_exit

    if child is None:
        return None
    try:
        status = await asyncio.wait_for(child.wait(), EXIT_TIMEOUT_SECONDS)
    except TimeoutError:
        return None
    cause = find_cause(await child.final_stderr())
    return ModelError(f"the process of {name} {describe_exit(status)}: {cause}", retry=True)


def _client(ready: Ready, key: str) -> ProviderModel:
    from accord.coder.credentials import Key
    from accord.coder.models.providers import Provider
    from accord.coder.models.pydantic_ai.model import ProviderModel

    provider = Provider(
        name="local", title="this machine", base_url=f"{ready.address}/v1", context=ready.context, images=False
    )
    return ProviderModel(provider, "gguf", Key(value=key, source="this process"))


def _exchange(child: Child, line: bytes) -> bytes:
    """Send the load request and wait for the reply. Standard input stays open, because the process ends with it."""
    assert child.stdin is not None
    fd, child.stdout = child.stdout, None
    assert fd is not None
    with open(fd, "rb") as answers:
        try:
            os.write(child.stdin, line)
        except BrokenPipeError:
            return b""
        return answers.readline()

"""A model in a file on this machine: the user's own GGUF, run with xllamacpp.

It runs in a process of its own (`local_server`), for three reasons: a fault in native code ends the process it happens
in, what such code prints must not get between the agent and its editor, and the memory is free again when the model is
changed. That process serves the protocol of OpenAI on the loopback, behind a key that nobody else has; it is asked like
any other provider."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from accord.coder.models.base import Model, ModelError, Piece, Request
from accord.coder.models.catalog import LOCAL_CONTEXT

if TYPE_CHECKING:
    from accord.coder.models.provider import ProviderModel
    from accord.process.child import Child

CONTEXT_VARIABLE = "ACCORD_LOCAL_CONTEXT"
"""The environment variable that says how many tokens are read at once: more take more memory."""
PATIENCE = 600.0
"""How long a model may take to be loaded, in seconds: large ones come from slow disks."""
AFTERMATH = 1.0
"""How long after a broken answer its process may take to be gone, in seconds."""
MAGIC = b"GGUF"
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "local_server.py")


class Wish(msgspec.Struct):
    """What the process is told first, in one line."""

    path: str
    context: int
    key: str


class Ready(msgspec.Struct):
    """What it answers, in one line, once the model is loaded."""

    address: str
    context: int


class LocalModel(Model):
    """A GGUF file. It is loaded by the first request, not before."""

    def __init__(self, path: str, *, context: int | None = None, patience: float = PATIENCE) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))
        self.id = f"local:{path}"
        self.name = f"{os.path.basename(path)} (local)"
        self.context = context or _wanted_context()
        self._patience = patience
        self._child: Child | None = None
        self._inner: ProviderModel | None = None
        self._starting = asyncio.Lock()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Asks for the next answer; see `Model.stream`."""
        inner = await self._loaded()
        child = self._child
        try:
            async with aclosing(inner.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except ModelError as error:
            raise await _of_its_end(child, self.name) or error from error

    async def _loaded(self) -> ProviderModel:
        """What asks the process; started once, and again when it has ended."""
        async with self._starting:
            if self._child is not None and self._child.status is not None:
                await self._end()
            if self._inner is None:
                check(self.path)
                key = secrets.token_urlsafe(24)
                ready = await self._start(Wish(self.path, self.context, key))
                self.context = ready.context
                self._inner = _asking(ready, key)
            return self._inner

    async def _start(self, wish: Wish) -> Ready:
        from accord.process.child import Child

        child = self._child = await Child.start([sys.executable, "-P", SERVER])
        try:
            async with asyncio.timeout(self._patience):
                line = await asyncio.to_thread(_told, child, msgspec.json.encode(wish) + b"\n")
            return msgspec.json.decode(line, type=Ready)
        except BaseException as error:
            child.kill()  # also frees the thread that waits for its answer
            await self._end()
            if isinstance(error, TimeoutError):
                raise ModelError(f"{self.path} was not loaded within {self._patience:g} s", kind="model") from None
            if isinstance(error, msgspec.DecodeError):
                said = why(await child.last_said())
                raise ModelError(f"{self.path} could not be loaded by xllamacpp: {said}", kind="model") from None
            raise

    async def _end(self) -> None:
        child, self._child = self._child, None
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()
        if child is not None:
            await child.stop(stdin_grace=2.0)

    async def close(self) -> None:
        """Ends the process: its memory is free again."""
        async with self._starting:
            await self._end()


def check(path: str) -> None:
    """Raises `ModelError` unless there is something to load, and something to load it with."""
    if find_spec("xllamacpp") is None:
        raise ModelError("a GGUF file needs xllamacpp: pip install 'accord[local]'", kind="model")
    try:
        with open(path, "rb") as file:
            if file.read(4) != MAGIC:
                raise ModelError(f"{path} is no GGUF file; download one, or convert your model to it", kind="model")
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}", kind="model") from None


def why(said: str) -> str:
    """What went wrong, from what the process wrote to standard error: its first complaints, or its last words."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    complaints = [re.sub(r"^[\d.]+ E\s+", "", line) for line in lines if re.match(r"[\d.]+ E ", line)]
    return "; ".join(dict.fromkeys(complaints[:2] or lines[-2:])) or "it said nothing"


def _wanted_context() -> int:
    value = os.environ.get(CONTEXT_VARIABLE, "")
    return int(value) if value.isdecimal() and int(value) >= 512 else LOCAL_CONTEXT


async def _of_its_end(child: Child | None, name: str) -> ModelError | None:
    """What is to be said when the process has ended in the middle of an answer: it is started anew when asked again."""
    from accord.process.child import in_words

    if child is None:
        return None
    try:
        status = await asyncio.wait_for(child.wait(), AFTERMATH)
    except TimeoutError:
        return None
    said = why(await child.last_said())
    return ModelError(f"the process of {name} {in_words(status)}: {said}", retry=True)


def _asking(ready: Ready, key: str) -> ProviderModel:
    from accord.coder.keys import Key
    from accord.coder.models.provider import ProviderModel
    from accord.coder.models.services import Service

    service = Service(
        name="local", title="this machine", base_url=f"{ready.address}/v1", context=ready.context, images=False
    )
    return ProviderModel(service, "gguf", Key(value=key, source="this process"))


def _told(child: Child, line: bytes) -> bytes:
    """Tells the process what to load, and waits for the line that it answers. Its standard input stays open."""
    assert child.stdin is not None
    fd, child.stdout = child.stdout, None
    assert fd is not None
    with open(fd, "rb") as answers:
        try:
            os.write(child.stdin, line)
        except BrokenPipeError:
            return b""
        return answers.readline()

"""Conversations with a server that is killed again and again.

A prompt that was running when the server died is answered with an error, which the client sees as the end of its turn.
Everything that the client has seen before must be in the log, and everything in the log must reach the client, once and
in order: in the end another client loads the session and compares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.cut_conversation import AT_ONCE, BOUND, Tally, compare
from support.cut_runs import CutRun, Scheme
from support.killable_server import KillableServer

import accord
from accord.errors import LaunchError, RequestFailed
from accord.transports.base import Transport
from accord.transports.http.client import HttpOptions, open_url


class Interrupted:
    """One session: prompts until enough of them have ended normally."""

    def __init__(self, words: int, on_word: Callable[[], None]) -> None:
        self.words = words
        self.texts: list[str] = []
        self.finished: list[str] = []
        self.failed: list[str] = []
        self.on_word = on_word

    async def run(self, agent: Any, cwd: str, turns: int) -> str:
        session = await agent.new_session(cwd)
        async with session.events() as listener:
            listening = asyncio.ensure_future(self._listen(listener))
            number = 0
            while len(self.finished) < turns:
                prompt = f"t{number}"
                number += 1
                try:
                    await session.prompt(prompt)
                    self.finished.append(prompt)
                except RequestFailed as error:
                    if "restarted" not in error.message:
                        raise
                    self.failed.append(prompt)
        await listening
        return str(session.id)

    async def _listen(self, listener: Any) -> None:
        async for event in listener:
            if isinstance(event, accord.Text):
                self.texts.append(event.text)
                self.on_word()

    def check(self, replayed: list[str]) -> Tally:
        total = compare(["".join(self.texts)], ["".join(replayed)])
        for prompt in [*self.finished, *self.failed]:
            found = [text for text in self.texts if text.startswith(f"{prompt}.")]
            wanted = [f"{prompt}.{number} " for number in range(self.words)]
            wanted += [f"{prompt}.allowed ", *(f"{prompt}.{number} " for number in range(self.words, 2 * self.words))]
            total += compare(wanted if prompt in self.finished else wanted[: len(found)], found)
        return total


async def run_with_kills(scheme: Scheme, turns: int, words: int, cwd: Path, kills: dict[int, float]) -> CutRun:
    """Run a conversation; `kills` has numbers of words, and how many seconds after them the server is killed."""
    server = KillableServer(cwd, words)
    loop = asyncio.get_running_loop()
    server.start()
    count = 0

    def on_word() -> None:
        nonlocal count
        count += 1
        if count in kills:
            loop.call_later(kills[count], server.kill)

    try:
        async with asyncio.timeout(BOUND):
            url = f"{scheme}://127.0.0.1:{server.port}/acp"
            conversation = Interrupted(words, on_word)
            async with await _connect(url, cwd) as agent:
                session = await conversation.run(agent, str(cwd), turns)
            async with await _connect(url, cwd) as agent:
                loaded = await agent.load_session(session, str(cwd))
                replayed = [item.text for item in loaded.transcript.messages.values() if item.role == "agent"]
        return CutRun(conversation.check(replayed), count, server.kills)
    finally:
        server.close()


async def _connect(url: str, cwd: Path) -> Any:
    from accord.remote.resuming_transport import ResumingTransport

    async def open() -> Transport:
        return await open_url(url, HttpOptions(connect_seconds=10.0, resume_seconds=0.5))

    while True:
        try:
            # A new process accepts the connection late, but the end of a killed one is noticed at once.
            transport = ResumingTransport(await open(), open, retry=AT_ONCE._replace(timeout_seconds=60.0))
            return await accord.connect(transport, cwd=cwd, permissions=accord.allow_all)
        except (LaunchError, accord.ConnectionClosed):
            continue

"""Recorded conversations: saved while a client uses a real agent, and replayed without it.

A recording is a text file with one message per line: `{"from": "client", "message": {…}}`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

from accord.errors import ConfigError
from accord.testing.wire import WirePeer
from accord.transports.base import Transport
from accord.transports.memory import pair

_INTERNAL_ERROR = -32603


class RecordedMessage(NamedTuple):
    """One message of a conversation."""

    sender: Literal["client", "agent"]
    message: dict[str, Any]


class Recorder:
    """Writes a conversation to a file. Pass it to `connect` as `watch`, and close it afterwards."""

    def __init__(self, path: str | Path) -> None:
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115  # open until `close`

    def __call__(self, direction: Literal["in", "out"], line: bytes) -> None:
        """Write one line of the wire."""
        sender = "client" if direction == "out" else "agent"
        for each in line.splitlines():
            try:
                message = json.loads(each)
            except ValueError:
                continue  # stray output of the agent
            if isinstance(message, dict):
                self._file.write(json.dumps({"from": sender, "message": message}, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Recording:
    """A recorded conversation. Use `agent` as the target of `connect`."""

    def __init__(self, messages: list[RecordedMessage]) -> None:
        self.messages = messages
        self.mismatches: list[str] = []
        """How the client deviated from the recording; empty if it didn't."""
        self._players: set[asyncio.Task[None]] = set()

    @classmethod
    def read(cls, path: str | Path) -> Recording:
        """Read a recording. Raises `ConfigError` if a line isn't a message."""
        messages: list[RecordedMessage] = []
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
            try:
                entry = json.loads(line)
                sender, message = entry["from"], entry["message"]
            except (ValueError, KeyError, TypeError):
                raise ConfigError(f"{path}: line {number} isn't a recorded message") from None
            messages.append(RecordedMessage(sender, message))
        return cls(messages)

    @property
    def version(self) -> int:
        """The negotiated protocol version."""
        for _, message in self.messages:
            result = message.get("result")
            if isinstance(result, dict) and "protocolVersion" in result:
                return int(result["protocolVersion"])
        return 1

    async def agent(self) -> Transport:
        """Play the agent's side, once for each connection."""
        ours, theirs = pair()
        player = asyncio.get_running_loop().create_task(self._play(WirePeer(theirs)))
        self._players.add(player)
        player.add_done_callback(self._players.discard)
        return ours

    async def _play(self, peer: WirePeer) -> None:
        ids: dict[str, Any] = {}  # maps the ids of the client's requests in the recording to the current ones
        for sender, message in self.messages:
            if sender == "agent":
                sent = dict(message)
                if "method" not in sent and str(sent.get("id")) in ids:
                    sent["id"] = ids[str(sent["id"])]
                await peer.send(sent)
                continue
            now = await self._expect(peer, message)
            if now is None:
                return
            if "method" in message and "id" in message:
                ids[str(message["id"])] = now["id"]
        while (late := await _next(peer)) is not None:
            await self._reject(peer, late, "the recording has ended")

    async def _expect(self, peer: WirePeer, recorded: dict[str, Any]) -> dict[str, Any] | None:
        """Wait for a message that matches the recorded one. Others are reported and rejected."""
        while (message := await _next(peer)) is not None:
            if message.get("method") == recorded.get("method") and ("id" in message) == ("id" in recorded):
                return message
            expected = recorded.get("method") or "the response to a request"
            await self._reject(peer, message, f"the recording has {expected} here")
        return None

    async def _reject(self, peer: WirePeer, message: dict[str, Any], why: str) -> None:
        what = message.get("method") or "a response"
        self.mismatches.append(f"the client sent {what}, but {why}")
        if "method" in message and "id" in message:
            await peer.refuse(message, _INTERNAL_ERROR, f"{why}, not {what}")


async def _next(peer: WirePeer) -> dict[str, Any] | None:
    """Wait for a message of the client; None if it has disconnected."""
    ending = asyncio.ensure_future(peer.ended.wait())
    waiting: set[asyncio.Future[Any]] = {asyncio.ensure_future(peer.receive_unlimited()), ending}
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        return next((task.result() for task in done if task is not ending), None)
    finally:
        for task in waiting:
            task.cancel()

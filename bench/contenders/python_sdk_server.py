"""The official Python SDK's server, with an agent that streams timestamps as `Streamer` in `bench/remote.py` does."""

from __future__ import annotations

import asyncio
import socket
import time
import uuid
from typing import Any

import acp
from acp import schema
from acp.http.asgi import create_asgi_app
from hypercorn.asyncio import serve
from hypercorn.config import Config


class Streamer:
    """Streams timestamps: `stream COUNT INTERVAL OFFSET BYTES`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=1, agent_info=schema.Implementation(name="python-sdk", version="1.0")
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id=uuid.uuid4().hex)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        _word, count, interval, offset, size = prompt[0].text.split()
        padding = "x" * int(size)
        await asyncio.sleep(float(offset))
        for number in range(int(count)):
            update = acp.update_agent_message_text(f"{number} {time.monotonic():.6f} {padding}")
            await self.client.session_update(session_id=session_id, update=update)
            await asyncio.sleep(float(interval))
        return schema.PromptResponse(stop_reason="end_turn")


async def main() -> None:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(1000)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}/acp", flush=True)
    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    await serve(create_asgi_app(Streamer), config)  # type: ignore[arg-type]


if __name__ == "__main__":
    asyncio.run(main())

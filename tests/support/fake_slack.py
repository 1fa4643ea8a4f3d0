"""A Slack workspace on this machine: the methods of its Web API that a bot calls, and the signed requests it gets."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlencode

import httpx2

TOKEN, SECRET = "xoxb-token", "signing-secret"


class FakeSlack:
    """`async with FakeSlack() as slack`: `posted` has what the bot sends, `send` and `press` are what users do."""

    def __init__(self) -> None:
        self.posted: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self.bot = ""
        """The URL of the bot."""
        self._count = 0

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self._server.server_address[1]}/api/"
        return {"SLACK_BOT_TOKEN": TOKEN, "SLACK_SIGNING_SECRET": SECRET, "SLACK_API_URL": url}

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._client = httpx2.AsyncClient(timeout=None)
        slack = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                assert self.headers["authorization"] == f"Bearer {TOKEN}"
                slack._count += 1
                slack._loop.call_soon_threadsafe(slack.posted.put_nowait, (self.path.rpartition("/")[2], body))
                answer = json.dumps({"ok": True, "ts": f"{slack._count}.0"}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        await asyncio.to_thread(self._server.shutdown)
        self._thread.join()
        self._server.server_close()

    async def next_post(self, method: str = "chat.postMessage") -> dict[str, Any]:
        """Wait for the next request of the bot."""
        called, body = await self.posted.get()
        assert called == method, body
        return body

    async def send(self, user: str, text: str, *, ts: str, thread_ts: str | None = None) -> None:
        """Write a message to the bot."""
        event = {"type": "app_mention", "channel": "C1", "user": user, "text": text, "ts": ts}
        await self.deliver_event(event if thread_ts is None else {**event, "thread_ts": thread_ts})

    async def deliver_event(self, event: dict[str, Any]) -> None:
        body = json.dumps({"type": "event_callback", "event": event}).encode()
        assert (await self.deliver("events", body)).status_code == 200

    async def press(self, user: str, message: dict[str, Any], name: str) -> None:
        """Press a button of a message, by its label."""
        (block,) = [block for block in message["blocks"] if block["type"] == "actions"]
        (button,) = [button for button in block["elements"] if button["text"]["text"] == name]
        action = {"action_id": button["action_id"], "block_id": block["block_id"], "value": button["value"]}
        payload = {"type": "block_actions", "user": {"id": user}, "actions": [action]}
        response = await self.deliver("actions", urlencode({"payload": json.dumps(payload)}).encode())
        assert response.status_code == 200

    async def deliver(self, path: str, body: bytes, *, secret: str = SECRET, sent: float | None = None) -> Any:
        """Send the bot a signed request."""
        stamp = str(int(time.time() if sent is None else sent))
        signature = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
        headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={signature}"}
        return await self._client.post(f"{self.bot}/slack/{path}", content=body, headers=headers)

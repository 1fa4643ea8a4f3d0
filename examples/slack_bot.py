"""A Slack bot: each thread is a session of an agent, and permission requests are buttons.

    pip install accord-acp fastapi uvicorn httpx2
    SLACK_BOT_TOKEN=… SLACK_SIGNING_SECRET=… AGENT='accord agent' uvicorn slack_bot:app

In the settings of the Slack app, send the events `app_mention` and `message.im` to /slack/events and interactions to
/slack/actions, and give the bot the scope `chat:write`."""

import asyncio
import hashlib
import hmac
import html
import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from urllib.parse import parse_qs

import httpx2
from fastapi import Depends, FastAPI, HTTPException, Request

import accord

AGENT = os.environ.get("AGENT", "accord agent")
SECRET = os.environ["SLACK_SIGNING_SECRET"].encode()
SLACK = os.environ.get("SLACK_API_URL", "https://slack.com/api/")
HEADERS = {"Authorization": f"Bearer {os.environ['SLACK_BOT_TOKEN']}"}
MAX_AGE_SECONDS = 300  # of a signed request


class Thread:
    """A thread in Slack and its session. Its prompts run one at a time."""

    def __init__(self, channel: str, ts: str) -> None:
        self.channel, self.ts = channel, ts
        self.session: accord.Session | None = None
        self.user = ""  # whose prompt is running
        self.turn = asyncio.Lock()

    async def run(self, user: str, text: str) -> None:
        async with self.turn:
            self.user = user
            try:
                if self.session is None:
                    self.session = await agent.new_session()
                    by_session[self.session.id] = self
                turn = await self.session.prompt(text)
                await self.post(turn.text or f"({turn.stop_reason})")
            except accord.AccordError as error:
                await self.post(f"Sorry: {error}")

    async def post(self, text: str, **more: Any) -> Any:
        escaped = html.escape(text, quote=False)  # what a model writes must not notify @everyone
        message = {"channel": self.channel, "thread_ts": self.ts, "text": escaped, **more}
        return (await slack.post("chat.postMessage", json=message)).json()


agent: accord.ConnectedAgent
slack: httpx2.AsyncClient
threads: dict[tuple[str, str], Thread] = {}
by_session: dict[str, Thread] = {}
waiting: dict[str, tuple[Thread, asyncio.Future[str]]] = {}  # for a button, by block
tasks: set[asyncio.Task[None]] = set()


async def ask_with_buttons(request: accord.PermissionRequest) -> str:
    """Show the options of a permission request as buttons, and wait until one of them is pressed."""
    thread, block, answer = by_session[request.session_id], uuid.uuid4().hex, asyncio.Future[str]()
    names = {option.id: option.name for option in request.options}
    title = {"type": "section", "text": {"type": "plain_text", "text": request.title[:3000]}}
    buttons = [
        {"type": "button", "action_id": id, "value": id, "text": {"type": "plain_text", "text": name}}
        for id, name in names.items()
    ]
    waiting[block] = thread, answer
    try:
        blocks = [title, {"type": "actions", "block_id": block, "elements": buttons}]
        posted = await thread.post(request.title, blocks=blocks)
        chosen = await answer
    finally:
        del waiting[block]
    text = html.escape(f"{request.title}: {names[chosen]}", quote=False)
    await slack.post("chat.update", json={"channel": thread.channel, "ts": posted["ts"], "text": text, "blocks": []})
    return chosen


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    global agent, slack
    async with (
        httpx2.AsyncClient(base_url=SLACK, headers=HEADERS) as slack,
        accord.connect(AGENT, permissions=ask_with_buttons, restart=True) as agent,
    ):
        yield


async def read_signed(request: Request) -> bytes:
    """Return the body of a request that was signed by Slack, and recently."""
    body, sent = await request.body(), request.headers.get("x-slack-request-timestamp", "")
    signature = "v0=" + hmac.new(SECRET, f"v0:{sent}:".encode() + body, hashlib.sha256).hexdigest()
    given = request.headers.get("x-slack-signature", "")
    if not hmac.compare_digest(signature.encode(), given.encode()) or time.time() - int(sent) > MAX_AGE_SECONDS:
        raise HTTPException(401, "Not signed by Slack.")
    return body


Signed = Annotated[bytes, Depends(read_signed)]
app = FastAPI(lifespan=lifespan)


@app.post("/slack/events")
async def receive_event(body: Signed) -> dict[str, str]:
    """Start the turn and return: Slack waits for three seconds only."""
    message = json.loads(body)
    if message["type"] == "url_verification":
        return {"challenge": message["challenge"]}
    event = message["event"]
    if "bot_id" not in event and "subtype" not in event:  # neither our own message nor an edit
        place = event["channel"], event.get("thread_ts", event["ts"])
        task = asyncio.create_task(threads.setdefault(place, Thread(*place)).run(event["user"], event["text"]))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    return {}


@app.post("/slack/actions")
async def press_button(body: Signed) -> None:
    payload = json.loads(parse_qs(body.decode())["payload"][0])
    action, user = payload["actions"][0], payload["user"]["id"]
    thread, answer = waiting.get(action["block_id"], (None, None))
    if thread and answer and not answer.done() and user == thread.user:  # nobody else's click counts
        answer.set_result(action["value"])

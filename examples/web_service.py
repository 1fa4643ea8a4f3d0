"""A web service that drives an agent: turns are server-sent events, and permission requests are answered over HTTP.

    pip install accord-acp fastapi uvicorn
    AGENT='accord agent' uvicorn web_service:app

    curl -X POST localhost:8000/sessions                                             {"id": "…"}
    curl -N localhost:8000/sessions/ID/prompts --json '{"text": "hello"}'            data: {"type": "text", "text": "…
    curl localhost:8000/permissions/1 --json '{"option": "allow_once"}'              answers the permission event 1

Everyone who can reach the service can use the agent: put it behind your own authentication."""

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Body, FastAPI, HTTPException
from fastapi.responses import StreamingResponse

import accord

AGENT = os.environ.get("AGENT", "accord agent")

agent: accord.ConnectedAgent
Events = asyncio.Queue[dict[str, Any]]
running: dict[str, Events] = {}  # by session
answers: dict[int, asyncio.Future[str]] = {}
numbers = itertools.count(1)


async def ask_over_http(request: accord.PermissionRequest) -> str | None:
    """Send a permission request to the client that sent the prompt, and wait for the answer."""
    if request.session_id not in running:
        return None
    number, answer = next(numbers), asyncio.Future[str]()
    options = {option.id: option.name for option in request.options}
    answers[number] = answer
    try:
        await running[request.session_id].put(
            {"type": "permission", "id": number, "title": request.title, "options": options}
        )
        return await answer
    finally:  # also if the turn is cancelled
        del answers[number]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    global agent
    async with accord.connect(AGENT, permissions=ask_over_http, restart=True) as agent:
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/sessions")
async def create_session() -> dict[str, str]:
    return {"id": (await agent.new_session()).id}


@app.post("/sessions/{id}/prompts")
async def send_prompt(id: str, text: str = Body(embed=True)) -> StreamingResponse:
    if id not in agent.sessions:
        raise HTTPException(404, "There is no such session.")
    return StreamingResponse(stream_turn(agent.sessions[id], text), media_type="text/event-stream")


@app.post("/permissions/{number}", status_code=204)
async def answer_permission(number: int, option: str = Body(embed=True)) -> None:
    if number not in answers or answers[number].done():
        raise HTTPException(404, "There is no such request, or it has been answered.")
    answers[number].set_result(option)


async def stream_turn(session: accord.Session, text: str) -> AsyncIterator[str]:
    """Yield the events of a turn and its permission requests. If the client hangs up, the turn is cancelled."""
    if session.id in running:
        yield format_event({"type": "error", "message": "The session is busy."})
        return
    events = running[session.id] = Events(maxsize=100)  # a slow client slows the agent
    turn = asyncio.create_task(run_turn(session, text, events))
    try:
        event: dict[str, Any] = {}
        while event.get("type") not in ("end", "error"):
            event = await events.get()
            yield format_event(event)
    finally:
        del running[session.id]
        turn.cancel()


async def run_turn(session: accord.Session, text: str, events: Events) -> None:
    try:
        turn = session.prompt(text)
        async for event in turn:
            match event:
                case accord.Text(text=text):
                    await events.put({"type": "text", "text": text})
                case accord.ToolCall(id=id, title=title, status=status):
                    await events.put({"type": "tool", "id": id, "title": title, "status": status})
        await events.put({"type": "end", "stop_reason": turn.stop_reason})
    except accord.AccordError as error:
        await events.put({"type": "error", "message": str(error)})


def format_event(event: dict[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"

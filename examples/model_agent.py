"""An agent on a model of Anthropic or OpenAI, through pydantic-ai: it reads files, and asks before it changes them.

    pip install accord-acp 'pydantic-ai-slim[anthropic,openai]'
    ANTHROPIC_API_KEY=… accord chat 'python model_agent.py'
    MODEL=openai:gpt-5 OPENAI_API_KEY=… accord chat 'python model_agent.py'

Paths stay inside the session's directory: `turn.files` checks that. The model gets errors, such as a
missing file, and can try something else."""

import os
from collections.abc import AsyncIterable

from pydantic_ai import Agent, AgentStreamEvent, RunContext
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)

import accord

MODEL = os.environ.get("MODEL", "anthropic:claude-sonnet-4-5")
INSTRUCTIONS = "You are a coding assistant in the user's editor. Read a file before you change it. Answer briefly."

model = Agent(MODEL, deps_type=accord.Turn, instructions=INSTRUCTIONS, defer_model_check=True)


@model.tool
async def read_file(run: RunContext[accord.Turn], path: str) -> str:
    """Read a text file of the project."""
    try:
        async with run.deps.tool(f"Read {path}", kind="read", locations=[path]):
            return await run.deps.files.read(path)
    except accord.RequestFailed as error:
        return f"Error: {error.message}"


@model.tool
async def write_file(run: RunContext[accord.Turn], path: str, text: str) -> str:
    """Replace the text of a file. The user sees the change and can refuse it."""
    turn = run.deps
    try:
        async with turn.tool(f"Write {path}", kind="edit", locations=[path]) as tool:
            await tool.diff(path, await read_if_exists(turn, path), text)
            if await tool.permit():
                await turn.files.write(path, text)
                return "Done."
            await tool.fail("Refused")
            return "The user refused this change."
    except accord.RequestFailed as error:
        return f"Error: {error.message}"


async def read_if_exists(turn: accord.Turn, path: str) -> str | None:
    try:
        return await turn.files.read(path)
    except accord.NotFound:
        return None


async def stream(run: RunContext[accord.Turn], events: AsyncIterable[AgentStreamEvent]) -> None:
    """Send text and reasoning to the user as they arrive."""
    async for event in events:
        match event:
            case (
                PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
            ) if text:
                await run.deps.say(text)
            case (
                PartStartEvent(part=ThinkingPart(content=text))
                | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
            ) if text:
                await run.deps.think(text)


class ModelAgent(accord.Agent):
    async def prompt(self, turn: accord.Turn) -> None:
        history = turn.session.data.get("history")
        try:
            result = await model.run(turn.text, deps=turn, message_history=history, event_stream_handler=stream)
        except ModelHTTPError as error:
            raise accord.RequestFailed(f"{MODEL} answered with status {error.status_code}: {error.body}") from error
        turn.session.data["history"] = result.all_messages()


if __name__ == "__main__":
    accord.run(ModelAgent())

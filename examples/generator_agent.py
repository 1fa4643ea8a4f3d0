"""Turn any async generator into an agent: what it yields is the answer. Works for LangGraph's `astream`, too.

    pip install accord-acp openai
    OPENAI_API_KEY=… accord chat 'python generator_agent.py'

For a LangGraph graph, end your program with `accord.run(GeneratorAgent(graph_stream(graph)))`."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import accord


@dataclass
class Step:
    """Something that the generator did, shown as a tool call."""

    title: str
    result: str
    failed: bool = False


Stream = Callable[[str, str], AsyncGenerator[str | Step, None]]
"""An async generator function. It takes the prompt and the id of the session, and yields text and steps."""


class GeneratorAgent(accord.Agent):
    """An agent that answers with an async generator. Cancelling the turn closes the generator."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    async def prompt(self, turn: accord.Turn) -> None:
        async with aclosing(self.stream(turn.text, turn.session.id)) as items:
            async for item in items:
                if isinstance(item, str):
                    await turn.say(item)
                else:
                    await show(turn, item)


async def show(turn: accord.Turn, step: Step) -> None:
    async with turn.tool(step.title) as tool:
        await tool.show(step.result)
        if step.failed:
            await tool.fail()


def graph_stream(graph: Any) -> Stream:
    """Stream a compiled LangGraph graph whose state has `messages`. With a checkpointer, each session is a thread."""

    async def stream(prompt: str, session_id: str) -> AsyncGenerator[str | Step, None]:
        question = {"messages": [{"role": "user", "content": prompt}]}
        config = {"configurable": {"thread_id": session_id}}
        async for message, _ in graph.astream(question, config, stream_mode="messages"):
            if message.type == "tool":
                yield Step(message.name or "tool", str(message.text), message.status == "error")
            elif message.type in ("ai", "AIMessageChunk") and message.text:
                yield str(message.text)

    return stream


async def ask_openai(prompt: str, session_id: str) -> AsyncGenerator[str | Step, None]:
    """The generator that runs by default: a model of OpenAI, without memory."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI() as client:
        chunks = await client.chat.completions.create(
            model=os.environ.get("MODEL", "gpt-5"), messages=[{"role": "user", "content": prompt}], stream=True
        )
        async for chunk in chunks:
            if chunk.choices and (text := chunk.choices[0].delta.content):
                yield text


if __name__ == "__main__":
    accord.run(GeneratorAgent(ask_openai))

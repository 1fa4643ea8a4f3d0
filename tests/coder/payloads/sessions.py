"""One session of the coding agent on each provider API, and the requests that the provider received.

The session visits every situation in which a request is built: a new session, a result, an error, another mode, an
image in a prompt and one that a tool reads, another process, and a compacted history. A second session starts a
sub-agent."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from coder.providers.script import Calls, Says, Thinks, Usage
from coder.providers.server import FakeProvider
from support.images import encode_image

from accord.client.session import Session
from accord.coder.agent import Coder
from accord.coder.shared_resources import SharedResources
from accord.model.content import Image
from accord.store.sqlite import SqliteStore
from accord.testing import link

MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "responses": "openai:gpt-6.1-sol",
    "chat": "vllm:qwen3-coder",
    "google": "google:gemini-3.8-flash",
    "vercel": "vercel:anthropic/claude-sonnet-5.5",
    "copilot": "copilot:claude-sonnet-5",
}
"""By wire format, and by gateway."""
WIRES = {"vercel": "anthropic", "copilot": "anthropic"}
"""The wire format of a gateway's Claude models."""
SITUATIONS = (
    "new",
    "after_tool",
    "failed_tool",
    "mode_switched",
    "image",
    "read_image",
    "resumed",
    "summary",
    "compacted",
)
"""In the order in which the session visits them. `summary` is the request that compacts the history."""
SUBAGENT = ("subagent", "subagent_after_tool", "after_report")
"""In another session: two requests of a sub-agent, and the next one of its parent."""
KEY = "sk-of-the-user-0123456789"
AGENTS_MD = "# Rules\n\nUse tabs.\n"
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_MACHINE = re.compile(r"(?<=\\n)(Git|System|Shell): [^\\]*")
"""Lines of the environment in the system prompt, in encoded JSON."""
_ID = re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b")


@dataclass
class Recorded:
    """The requests of one session, by situation."""

    wire: str
    project: str
    session_ids: list[str] = field(default_factory=list)
    bodies: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)

    def normalize(self, situation: str) -> Any:
        """Return a request without the parts that differ between machines, runs, days and library versions."""
        text = json.dumps(self.bodies[situation]).replace(self.project, "/project")
        text = text.replace("<pyai:tool_result ", "<tool_result ").replace("</pyai:tool_result>", "</tool_result>")
        for id in self.session_ids:
            text = text.replace(id, "SESSION")
        text = _MACHINE.sub(r"\1: this machine's", text)
        return json.loads(_ID.sub("ID", _DAY.sub("DAY", text)))

    def conversation(self, situation: str) -> Conversation:
        return Conversation.of(self.wire, self.bodies[situation])


@dataclass
class Conversation:
    """The parts that a provider caches, in order: the tools, the system prompt, the messages."""

    tools: Any
    system: Any
    messages: list[Any]

    @classmethod
    def of(cls, wire: str, body: Any) -> Conversation:
        body = _without_marks(body)
        match WIRES.get(wire, wire):
            case "anthropic":
                return cls(body["tools"], body["system"], body["messages"])
            case "responses":
                system = [item for item in body["input"] if item.get("role") in ("system", "developer")]
                rest = [item for item in body["input"] if item not in system]
                return cls(body["tools"], body.get("instructions", system), rest)
            case "google":
                return cls(body["tools"], body["systemInstruction"], body["contents"])
        system = [message for message in body["messages"] if message["role"] == "system"]
        return cls(body["tools"], system, [message for message in body["messages"] if message not in system])

    def prefix(self) -> str:
        """Return the part that every request of a session starts with."""
        return json.dumps([self.tools, self.system], ensure_ascii=False)


def _without_marks(value: Any) -> Any:
    """Drop what isn't part of the cached text.

    The cache marks move with each request. pydantic-ai gives calls of the current turn an empty
    `reasoning_content`, because DeepSeek requires the field; a chat template writes nothing for it."""
    match value:
        case dict():
            kept = {key: item for key, item in value.items() if (key, item) != ("reasoning_content", "")}
            return {key: _without_marks(item) for key, item in kept.items() if key != "cache_control"}
        case list():
            return [_without_marks(item) for item in value]
    return value


def record(wire: str, directory: Path) -> Recorded:
    """Run the session of a wire format, in an empty directory."""
    project = directory / "project"
    (project / "src").mkdir(parents=True)
    (project / "AGENTS.md").write_text(AGENTS_MD)
    (project / "src" / "calc.py").write_text('"""Sums \\"quoted\\" numbers."""\n\n\ndef add(a, b):\n\treturn a - b\n')
    (project / "src" / "red.png").write_bytes(base64.b64decode(encode_image()))
    with pytest.MonkeyPatch.context() as environment:
        for name in ("CONFIG", "DATA", "CACHE", "STATE"):
            environment.setenv(f"XDG_{name}_HOME", str(directory / "home" / name.lower()))
        environment.setenv("HOME", str(directory / "home"))
        environment.setenv("THE_KEY", KEY)
        return asyncio.run(_record(wire, directory, project))


async def _record(wire: str, directory: Path, project: Path) -> Recorded:
    async with FakeProvider() as provider:
        configure(wire, directory / "home" / "config", provider)
        recorded = Recorded(wire, str(project))
        store = SqliteStore(directory / "sessions.sqlite")
        async with link(open_agent(wire, store), cwd=str(project)) as client:
            session = await client.new_session()
            recorded.session_ids.append(session.id)
            await _first_process(session, provider)
        async with link(open_agent(wire, store), cwd=str(project)) as client:
            await _second_process(await client.load_session(session.id), provider)
            parent = await client.new_session()
            recorded.session_ids.append(parent.id)
            await _with_subagent(parent, provider)
        await store.close()
        requests = [asked for asked in provider.asked if asked.method == "POST"]
        first = len(SITUATIONS)  # the request that starts the sub-agent
        situations = zip((*SITUATIONS, *SUBAGENT), requests[:first] + requests[first + 1 :], strict=True)
        for situation, asked in situations:
            assert asked.wire == WIRES.get(wire, wire)
            recorded.bodies[situation] = asked.body
            recorded.headers[situation] = asked.headers
        return recorded


async def _first_process(session: Session, provider: FakeProvider) -> None:
    spent = Usage(input=4000, output=50)
    provider.says(
        Thinks("It subtracts.", signature="seal-1"),
        Says("I look."),
        Calls("read_file", {"file_path": "src/calc.py"}, id="call_1"),
        usage=spent,
    )
    edit = {
        "old_string": 'def add("a", b):',
        "new_string": "def add(a, b):",
    }  # an error that quotes this has quotes in it
    provider.says(Calls("edit_file", {"file_path": "src/calc.py", "edits": [edit]}, id="call_2"), usage=spent)
    provider.says(Says("It should add."), usage=spent)
    await session.prompt("What is wrong in src/calc.py?")
    await session.set_mode("architect")
    provider.says(Says("A plan."), usage=spent)
    await session.prompt("Plan the repair.")
    await session.set_mode("ask")
    provider.says(Calls("read_file", {"file_path": "src/red.png"}, id="call_3"), usage=spent)
    provider.says(Says("Twice the same red square."), usage=spent)
    await session.prompt("What do you see?", Image(data=encode_image(), mime_type="image/png"))


async def _second_process(session: Session, provider: FakeProvider) -> None:
    spent = Usage(input=4000, output=50)
    provider.says(Says("I am back."), usage=spent)
    await session.prompt("Are you still there?")
    provider.says(Says("add() subtracts; a plan exists."), usage=spent)
    await session.prompt("/compact")
    provider.says(Says("I go on."), usage=spent)
    await session.prompt("Go on.")


async def _with_subagent(session: Session, provider: FakeProvider) -> None:
    spent = Usage(input=4000, output=50)
    question = {"question": "Where is add() used?", "thoroughness": "quick"}
    provider.says(Calls("explore", question, id="call_1"), usage=spent)
    provider.says(Calls("read_file", {"file_path": "src/calc.py"}, id="call_2"), usage=spent)
    provider.says(Says("Only defined, in `src/calc.py:4`."), usage=spent)
    provider.says(Says("Nobody uses it."), usage=spent)
    await session.prompt("Who uses add()?")


def open_agent(wire: str, store: SqliteStore) -> Coder:
    return Coder(store=store, shared=SharedResources(model=MODELS[wire], pauses=()))


def configure(wire: str, config: Path, provider: FakeProvider) -> None:
    """Point the provider of a wire format at this machine, with a key that is easy to find again."""
    name = MODELS[wire].partition(":")[0]
    (config / "accord").mkdir(parents=True)
    (config / "accord" / "config.toml").write_text(
        f'[coder.providers.{name}]\nbase_url = "{provider.base_url(wire)}"\napi_key_env = "THE_KEY"\n'
        + ("" if wire in WIRES else f'api = "{wire}"\n')
        + ("images = true\n" if wire in ("chat", *WIRES) else "")
    )

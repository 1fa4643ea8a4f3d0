"""`accord.v1` and `accord.v2` with the official SDKs: our client and their agent, and the reverse."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from peers import commands
from support.link import until
from support.prerequisites import require

from accord import InvalidParams, MethodNotFound, NotFound, RequestFailed, v1, v2
from accord.transports.subprocess import SubprocessTransport

pytestmark = pytest.mark.peer
in_the_module = pytest.mark.asyncio(loop_scope="module")

AGENT = Path(__file__).resolve().parents[1] / "agents" / "wire_agent.py"


def need(language: Any) -> None:
    require(commands.missing(language))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


class Listening:
    """The handlers of a client: they record updates, and select the first option of every permission request."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.noted: asyncio.Queue[Any] = asyncio.Queue()
        self.agent: Any = None
        self.session = ""

    def extension_request(self, method: str, params: Any) -> Any:
        return params

    def extension_notification(self, method: str, params: Any) -> None:
        self.noted.put_nowait((method, params))

    def list_updates(self, kind: Any) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]

    def texts(self) -> list[str]:
        return [update.content.text for update in self.list_updates((v1.AgentMessageChunk, v2.AgentMessageChunk))]


# -- version 1, with an agent on the Python SDK


class First(Listening):
    def session_update(self, params: v1.SessionNotification) -> None:
        self.updates.append(params.update)

    def session_request_permission(self, params: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        outcome = v1.SelectedPermissionOutcome(option_id=params.options[0].option_id)
        return v1.RequestPermissionResponse(outcome=outcome)

    def fs_read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        return v1.ReadTextFileResponse(content=f"what is in {Path(params.path).name}")

    async def say(self, text: str) -> v1.PromptResponse:
        self.updates = []
        prompt = v1.PromptRequest(session_id=self.session, prompt=[v1.TextContent(text=text)])
        answer: v1.PromptResponse = await self.agent.session_prompt(prompt)
        return answer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def first(folder: Path) -> AsyncIterator[First]:
    need("py")
    client = First()
    transport = await SubprocessTransport.launch(commands.agent("py", 1), cwd=str(folder))
    async with v1.connect(transport, client) as client.agent:
        offered = v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True))
        hello = await client.agent.initialize(v1.InitializeRequest(protocol_version=1, client_capabilities=offered))
        assert (hello.protocol_version, hello.agent_info.name) == (1, "py-agent-v1")
        made = await client.agent.session_new(v1.NewSessionRequest(cwd=str(folder), mcp_servers=[]))
        assert made.modes.current_mode_id == "ask"
        client.session = made.session_id
        yield client
        assert client.agent.connection.problems == {}


@in_the_module
async def test_v1_what_the_agent_says_comes_in_its_types_and_in_order(first: First, folder: Path) -> None:
    assert (await first.say("think")).stop_reason == "end_turn"
    assert [(type(update), update.content.text) for update in first.updates[2:4]] == [
        (v1.AgentThoughtChunk, "three"),
        (v1.AgentMessageChunk, "four "),
    ]
    await first.say("plan")
    assert [entry.status for entry in first.list_updates(v1.Plan)[1].entries] == ["completed", "in_progress", "pending"]
    await first.say("tool")
    (call,), (_, done) = first.list_updates(v1.ToolCall), first.list_updates(v1.ToolCallUpdate)
    assert call.tool_call_id == done.tool_call_id
    assert done.content == [v1.Diff(path=str(folder / "notes.txt"), old_text="old\n", new_text="new\n")]


@in_the_module
@pytest.mark.parametrize(
    "text, said", [("permission", "allowed"), ("read a.md", "what is in a.md"), ("extension", '{"from":"agent"}')]
)
async def test_v1_what_the_agent_asks_is_answered(first: First, text: str, said: str) -> None:
    await first.say(text)
    assert first.texts() == [said]


@in_the_module
async def test_v1_a_turn_is_cancelled(first: First) -> None:
    waiting = asyncio.create_task(first.say("wait"))
    await until(lambda: first.texts() == ["waiting"])
    await first.agent.session_cancel(v1.CancelNotification(session_id=first.session))
    assert (await waiting).stop_reason == "cancelled"


@in_the_module
async def test_v1_a_session_is_replayed(first: First, folder: Path) -> None:
    first.updates = []
    await first.agent.session_load(v1.LoadSessionRequest(session_id="stored-1", cwd=str(folder), mcp_servers=[]))
    assert [type(update) for update in first.updates] == [v1.UserMessageChunk, v1.AgentMessageChunk]


@in_the_module
async def test_v1_errors_are_reported(first: First, folder: Path) -> None:
    with pytest.raises(RequestFailed, match="the agent was asked to fail"):
        await first.say("fail")
    with pytest.raises(NotFound):
        await first.agent.session_load(v1.LoadSessionRequest(session_id="nobody", cwd=str(folder), mcp_servers=[]))
    with pytest.raises(InvalidParams):
        await first.agent.request("session/prompt", {"sessionId": first.session})
    with pytest.raises(MethodNotFound):
        await first.agent.request("_test/unknown")


@in_the_module
async def test_v1_extensions_work_both_ways(first: First) -> None:
    assert await first.agent.request("_test/echo", {"a": 1}) == {"a": 1}
    await first.agent.notify("_test/note", {"n": 1})
    assert await first.noted.get() == ("_test/noted", {"n": 1})


# -- version 2, with an agent on the TypeScript SDK


class Second(Listening):
    def __init__(self) -> None:
        super().__init__()
        self.idle: asyncio.Queue[v2.StateUpdate] = asyncio.Queue()

    def session_update(self, params: v2.UpdateSessionNotification) -> None:
        self.updates.append(params.update)
        if isinstance(params.update, v2.StateUpdate) and params.update.state == "idle":
            self.idle.put_nowait(params.update)

    def session_request_permission(self, params: v2.RequestPermissionRequest) -> v2.RequestPermissionResponse:
        outcome = v2.SelectedPermissionOutcome(option_id=params.options[0].option_id)
        return v2.RequestPermissionResponse(outcome=outcome)

    async def say(self, text: str) -> v2.StateUpdate:
        """Send a prompt and wait until the session is idle."""
        self.updates = []
        prompt = v2.PromptRequest(session_id=self.session, prompt=[v2.TextContent(text=text)])
        taken = await self.agent.session_prompt(prompt)
        idle = await self.idle.get()
        assert [echo.message_id for echo in self.list_updates(v2.UserMessage)] == [taken.message_id]
        return idle


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def second(folder: Path) -> AsyncIterator[Second]:
    need("ts")
    client = Second()
    transport = await SubprocessTransport.launch(commands.agent("ts", 2), cwd=str(folder))
    async with v2.connect(transport, client) as client.agent:
        info = v2.Implementation(name="wire-client", version="1")
        hello = await client.agent.initialize(v2.InitializeRequest(protocol_version=2, info=info))
        assert (hello.protocol_version, hello.info.name) == (2, "ts-agent-v2")
        made = await client.agent.session_new(v2.NewSessionRequest(cwd=str(folder)))
        assert [option.config_id for option in made.config_options] == ["mode", "model"]
        client.session = made.session_id
        yield client
        assert client.agent.connection.problems == {}


@in_the_module
async def test_v2_what_the_agent_says_comes_in_its_types_and_in_order(second: Second, folder: Path) -> None:
    assert (await second.say("think")).stop_reason == "end_turn"
    spoken = second.list_updates((v2.AgentThoughtChunk, v2.AgentMessageChunk))
    assert [(type(update), update.content.text) for update in spoken[2:4]] == [
        (v2.AgentThoughtChunk, "three"),
        (v2.AgentMessageChunk, "four "),
    ]
    await second.say("plan")
    plan = second.list_updates(v2.PlanUpdate)[1].plan
    assert [entry.status for entry in plan.entries] == ["completed", "in_progress", "pending"]
    await second.say("tool")
    done = second.list_updates(v2.ToolCallUpdate)[-1]
    assert [change.path for change in done.content[0].changes] == [str(folder / "notes.txt")]
    await second.say("terminal echo hi")
    began, ended = second.list_updates(v2.TerminalUpdate)
    assert (began.command, ended.exit_status.exit_code) == ("echo hi", 0)


@in_the_module
@pytest.mark.parametrize("text, said", [("permission", "allowed"), ("extension", '{"from":"agent"}')])
async def test_v2_what_the_agent_asks_is_answered(second: Second, text: str, said: str) -> None:
    await second.say(text)
    assert second.texts() == [said]


@in_the_module
async def test_v2_a_turn_is_cancelled(second: Second) -> None:
    waiting = asyncio.create_task(second.say("wait"))
    await until(lambda: second.texts() == ["waiting"])
    await second.agent.session_cancel(v2.CancelSessionNotification(session_id=second.session))
    assert (await waiting).stop_reason == "cancelled"


@in_the_module
async def test_v2_a_session_is_replayed(second: Second, folder: Path) -> None:
    second.updates = []
    start = v2.ReplayFromStart()
    resume = v2.ResumeSessionRequest(session_id="stored-1", cwd=str(folder), replay_from=start)
    await second.agent.session_resume(resume)
    assert [type(update) for update in second.updates] == [v2.UserMessage, v2.AgentMessage, v2.StateUpdate]
    assert (await second.idle.get()).stop_reason is v2.UNSET


@in_the_module
async def test_v2_errors_are_reported(second: Second, folder: Path) -> None:
    failed = await second.say("fail")
    assert failed.stop_reason == "error"
    assert isinstance(failed.error, v2.Error)
    assert (failed.error.code, failed.error.data) == (-32603, {"why": "asked"})
    with pytest.raises(NotFound):
        await second.agent.session_resume(v2.ResumeSessionRequest(session_id="nobody", cwd=str(folder)))
    with pytest.raises(InvalidParams):
        await second.agent.request("session/prompt", {"sessionId": second.session})
    with pytest.raises(MethodNotFound):
        await second.agent.request("_test/unknown")


@in_the_module
async def test_v2_extensions_work_both_ways(second: Second) -> None:
    assert await second.agent.request("_test/echo", {"a": 1}) == {"a": 1}
    await second.agent.notify("_test/note", {"n": 1})
    assert await second.noted.get() == ("_test/noted", {"n": 1})


# -- the reverse


@pytest.mark.parametrize("client, version", [("py", 1), ("ts", 2)])
def test_their_client_with_our_agent(client: Any, version: int, tmp_path: Path) -> None:
    need(client)
    steps: list[dict[str, Any]] = [
        {"do": "new"},
        {"do": "prompt", "text": "hello"},
        {"do": "prompt", "text": "permission", "permission": "allow_once"},
        {"do": "prompt", "text": "permission", "permission": "cancelled"},
        {"do": "request", "method": "_test/echo", "params": {"a": 1}},
        {"do": "notify", "method": "_test/note", "params": {"n": 1}, "until": "_test/noted"},
        {"do": "request", "method": "_test/unknown"},
        {"do": "prompt", "text": "hello", "session": "nobody"},
        {"do": "load", "session": "stored-1"},
        {"do": "prompt", "text": "wait", "cancel": True},
    ]
    command = [sys.executable, str(AGENT), str(version)]
    seen = commands.play(commands.client(client, version), command, *steps, cwd=tmp_path)
    hello, opened, told, allowed, left, echoed, noted, unknown, nobody, unloaded, cancelled, ended = seen
    assert hello[-1]["result"]["protocolVersion"] == version
    assert opened[-1]["id"] == "session-1"
    assert (said_in(told), told[-1]["reason"]) == (["hello"], "end_turn")
    assert said_in(allowed) == ["chose yes"]
    assert said_in(left) == ["chose nothing"]
    assert echoed[-1]["result"] == {"a": 1}
    assert noted[-1]["method"] == "_test/noted"
    assert unknown[-1]["code"] == -32601
    assert nobody[-1]["code"] == -32002
    assert unloaded[-1]["code"] == -32601, "what has no handler is not served"
    assert (said_in(cancelled), cancelled[-1]["reason"]) == (["waiting"], "cancelled")
    assert ended[-1]["status"] == 0


def said_in(step: list[dict[str, Any]]) -> list[str]:
    updates = [line["update"] for line in step if line["saw"] == "update"]
    return [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]

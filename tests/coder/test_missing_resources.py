"""The agent without packages, a home directory, disk space or a readable configuration."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import coder
from coder.test_commands import Write
from coder.test_loop import call
from support.cli_runner import happens

from accord.testing import ScriptedClient

Join = Callable[..., Any]
EXTRAS = ("pydantic_ai", "pydantic", "mcp", "keyring", "httpx2", "httpx", "anthropic", "openai", "google", "textual")
BLOCK = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


class Process:
    """`accord agent` with blocking writes and reads. Allows every permission request."""

    def __init__(self, cwd: Path, *args: str, before: Callable[[], None] | None = None, **environment: str) -> None:
        self.cwd = cwd
        self.told: list[Any] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "accord", "agent", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **environment},
            preexec_fn=before,
        )
        self._ids = 0
        self.offers = self.ask("initialize", protocolVersion=1, clientCapabilities={})["result"]["agentCapabilities"]

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request, and return the response."""
        *_, answer = self.begin(method, **params)
        return answer

    def begin(self, method: str, **params: Any) -> Iterator[Any]:
        """Send a request, and return the messages up to the response. Allows all permission requests."""
        assert self._process.stdout is not None
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        while True:
            message = json.loads(self._process.stdout.readline())  # this stream contains only protocol messages
            if "method" in message:
                self.told.append(message)
                if "id" in message:
                    outcome = {"outcome": "selected", "optionId": "allow_once"}
                    self._send({"id": message["id"], "result": {"outcome": outcome}})
            yield message
            if message.get("id") == self._ids and "method" not in message:
                return

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def session(self, **more: Any) -> str:
        answer = self.ask("session/new", **{"cwd": str(self.cwd), "mcpServers": [], **more})
        return str(answer["result"]["sessionId"])

    def prompt(self, session: str, text: str) -> Any:
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    @property
    def updates(self) -> list[Any]:
        return [message["params"]["update"] for message in self.told if message["method"] == "session/update"]

    @property
    def text(self) -> str:
        return "".join(each["content"]["text"] for each in self.updates if each["sessionUpdate"].endswith("_chunk"))

    @property
    def calls(self) -> list[str]:
        return [each["toolCallId"] for each in self.updates if each["sessionUpdate"] == "tool_call"]

    def end(self) -> tuple[int, str]:
        """Close it, and return its exit status and standard error."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.stderr is not None
        said = self._process.stderr.read().decode()
        return self._process.wait(30), said

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def start(project: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def start(*args: str, cwd: Path = project, **how: Any) -> Process:
        started.append(Process(cwd, *args, **how))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def test_normal_use_prints_nothing_to_standard_error(start: Callable[..., Process], project: Path) -> None:
    (project / "a.txt").write_text("hi\n")
    agent = start()
    session = agent.session()
    answer = agent.prompt(session, "read a.txt, then replace hi with ho in a.txt, then run echo hello")
    assert answer["result"]["stopReason"] == "end_turn"
    assert agent.prompt(session, "/undo")["result"]["stopReason"] == "end_turn"
    assert (project / "a.txt").read_text() == "hi\n"
    assert agent.end() == (0, "")


def test_without_the_extras_the_offline_model_works_and_the_rest_says_what_to_install(
    start: Callable[..., Process], project: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    (project / "a.txt").write_text("hello\n")
    agent = start(PYTHONPATH=str(tmp_path), ANTHROPIC_API_KEY="sk-none")
    assert agent.offers["mcpCapabilities"] == {"http": False, "sse": False}
    server = {"name": "tools", "command": sys.executable, "args": ["-c", ""], "env": []}
    session = agent.session(mcpServers=[server])
    words = agent.prompt(session, "read a.txt")["error"]["message"]
    assert (
        words == "Anthropic models need a package that is not installed (pydantic_ai): pip install 'accord-acp[coder]'"
    )
    agent.ask("session/set_config_option", sessionId=session, configId="model", value="offline")
    assert agent.prompt(session, "read a.txt")["result"]["stopReason"] == "end_turn"
    assert "hello" in agent.text
    assert "MCP server tools: failed" in agent.text and "pip install 'accord-acp[coder]'" in agent.text
    assert agent.end() == (0, "")


def test_an_unreadable_configuration_is_reported_and_the_agent_keeps_running(
    start: Callable[..., Process], home: Path
) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    agent = start()
    for broken, words in [
        ("[coder\n", "config.toml: line 1"),
        ("[coder]\nmodel = 3\n", "config.toml: line 2: coder.model"),
        ('[permissions]\nallow = ["nonsense"]\n', "config.toml: line 2: permissions.allow[0]"),
    ]:
        config.write_text(broken)
        fault = agent.ask("session/new", cwd=str(agent.cwd), mcpServers=[])["error"]
        assert words in fault["message"] and "failed" not in fault["message"]
    config.write_text("")
    session = agent.session()
    config.write_text("[coder\n")
    assert "config.toml: line 1" in agent.prompt(session, "list files")["error"]["message"]
    config.unlink()
    assert agent.prompt(session, "list files")["result"]["stopReason"] == "end_turn"
    assert agent.end() == (0, "")


@pytest.mark.parametrize("where", ["nowhere", "home"])
async def test_files_are_changed_even_if_checkpoints_cannot_be_saved(
    joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (project / "file").write_text("")
    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(project / ("file" if where == "nowhere" else "data")))
    agent, _ = coder([call("change")], ["done"], [call("change", path="b.txt")], ["done"], tools=[Write()])
    async with joined(agent, permissions=ScriptedClient().permit) as client:
        session = await client.new_session()
        first, second = await session.prompt("one"), await session.prompt("two")
        assert (project / "a.txt").read_text() == (project / "b.txt").read_text() == "new\n"
        assert "Couldn't do that" in (await session.prompt("/undo")).text
    assert [each.status for turn in (first, second) for each in turn.tool_calls] == ["completed"] * 2
    told = session.transcript.text + str(session.transcript.notices) + str(list(session.transcript.messages))
    assert told.count("/undo won't work for these changes") == 1


def test_a_full_disk_is_reported_and_the_agent_keeps_running(start: Callable[..., Process], project: Path) -> None:
    def little() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    (project / "a.txt").write_text("x" * 50_000)
    agent = start(before=little)
    session = agent.session()
    answers = [agent.prompt(session, "read a.txt") for _ in range(20)]
    failed = [answer["error"]["message"] for answer in answers if "error" in answer]
    assert failed and all("can't save sessions in" in words for words in failed)
    assert "result" in agent.ask("session/list")
    assert agent.end()[0] == 0


@pytest.mark.parametrize("most", [1, 4, 9, 20, 35, 60])
def test_after_a_kill_a_session_continues_with_everything_the_client_received(
    start: Callable[..., Process], project: Path, most: int
) -> None:
    (project / "a.txt").write_text("hi\n")
    wish = "list files, then read a.txt, then replace hi with ho in a.txt, then run echo hello, then read a.txt"
    first = start()
    session = first.session()
    before = len(first.told)
    turn = first.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": wish}])
    for _ in range(most):
        next(turn, None)
    first.kill()
    del first.told[:before]
    second = start()
    answer = second.ask("session/load", sessionId=session, cwd=str(project), mcpServers=[])
    assert "result" in answer
    said = "".join(each["content"]["text"] for each in second.updates if each["sessionUpdate"] == "agent_message_chunk")
    seen = "".join(each["content"]["text"] for each in first.updates if each["sessionUpdate"] == "agent_message_chunk")
    assert said.startswith(seen)
    assert second.calls[: len(first.calls)] == first.calls
    assert second.prompt(session, "read a.txt")["result"]["stopReason"] == "end_turn"
    assert second.end() == (0, "")


def test_a_client_that_leaves_during_a_command_ends_the_command_and_nothing_is_printed(
    start: Callable[..., Process], project: Path
) -> None:
    agent = start()
    wish = [{"type": "text", "text": "run echo $$ > pid; exec sleep 60"}]
    session = agent.session()
    pid = project / "pid"
    for message in agent.begin("session/prompt", sessionId=session, prompt=wish):
        if message.get("method") == "session/request_permission":
            break
    assert happens(lambda: pid.exists() and bool(pid.read_text().strip()))
    assert agent.end() == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)

"""The page of marimo 0.25 as a client of `accord serve`, with the messages that it was seen to send."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import Accord
from support.page_socket import PageSocket
from support.serve_process import ServeProcess

INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}}}


@pytest.fixture
def serving(accord: Accord) -> Iterator[ServeProcess]:
    """The server that `accord editors marimo` prints, on a free port."""
    words = shlex.split(accord("editors", "marimo").out)
    begin, port = words.index("serve") + 1, words.index("--port")
    assert words[port + 1] == "3017"
    running = ServeProcess.start(accord, *words[begin:port], *words[port + 2 :])
    yield running
    running.kill()


@pytest.mark.parametrize("origin", ["http://localhost:2718", "http://127.0.0.1:2718"])
def test_both_addresses_of_the_page_are_accepted_without_a_token(serving: ServeProcess, origin: str) -> None:
    with PageSocket(serving.url, "/message", origin) as page:
        assert " 101 " in page.status
        page.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        assert page.response(0)["result"]["protocolVersion"] == 1


def test_other_pages_are_refused(serving: ServeProcess) -> None:
    for origin in ("http://localhost:2719", "http://127.0.0.1:2719", "https://localhost:2718"):
        with PageSocket(serving.url, "/message", origin) as page:
            assert " 403 " in page.status, origin


def test_the_page_prompts_approves_an_edit_and_continues_after_a_reload(serving: ServeProcess) -> None:
    project = serving.accord.project
    notebook = project / "notebook.py"
    notebook.write_text("x = 1\n")
    with PageSocket(serving.url, "/message", "http://localhost:2718") as page:
        page.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        page.send({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": open_params(project)})
        session = page.response(1)["result"]["sessionId"]
        page.send(prompt(2, session, "replace x = 1 with x = 2 in notebook.py", notebook))
        asked = page.wait(lambda each: each.get("method") == "session/request_permission")
        answer = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        page.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        assert page.response(2)["result"]["stopReason"] == "end_turn"
        questions = [each for each in page.received if each.get("method") == "session/request_permission"]
        assert len(questions) == 1
        assert notebook.read_text() == "x = 2\n"

    with PageSocket(serving.url, "/message", "http://localhost:2718") as page:
        page.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        params = {**open_params(project), "sessionId": session}
        page.send({"jsonrpc": "2.0", "id": 1, "method": "session/load", "params": params})
        assert "result" in page.response(1)
        shown = [each["content"]["text"] for each in page.updates("user_message_chunk") if "text" in each["content"]]
        assert shown == ["replace x = 1 with x = 2 in notebook.py"]
        assert page.updates("agent_message_chunk")


def open_params(project: Path) -> dict[str, Any]:
    return {"cwd": str(project), "mcpServers": []}


def prompt(id: int, session: str, text: str, notebook: Path) -> dict[str, Any]:
    """Return marimo's first prompt: its link is a path, and the URI of its rules has no scheme."""
    name = str(notebook)
    rules = f"\n  I am currently editing a marimo notebook.\n  You can read or write to the notebook at {name}\n"
    blocks = [
        {"type": "text", "text": text},
        {"type": "resource_link", "uri": name, "mimeType": "text/x-python", "name": name},
        {"type": "resource", "resource": {"uri": "marimo_rules.md", "mimeType": "text/plain", "text": rules}},
    ]
    return {"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": session, "prompt": blocks}}

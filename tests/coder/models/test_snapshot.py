"""The bundled facts about models, and a newer list that the user asked for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from coder.models.provider_client import their_warnings

from accord.cli.agent import agent
from accord.coder.credentials import Keys
from accord.coder.models.catalog import available
from accord.coder.models.snapshot import RefreshError, known_models, refresh, snapshot_date
from accord.config.directories import data_directory

LISTED = {
    "anthropic": {
        "models": {
            "claude-of-tomorrow": {
                "id": "claude-of-tomorrow",
                "name": "Claude of Tomorrow",
                "reasoning": True,
                "tool_call": True,
                "limit": {"context": 2_000_000, "output": 64_000},
                "modalities": {"input": ["text", "image"], "output": ["text"]},
                "cost": {"input": 1, "output": 5, "cache_read": 0.1, "context_over_200k": {"input": 2, "output": 9}},
            },
            "claude-sonnet-5-5": {
                "id": "claude-sonnet-5-5",
                "name": "Another name",
                "tool_call": True,
                "limit": {"context": 3_000_000},
            },
            "old": {"id": "old", "tool_call": True, "status": "deprecated", "limit": {"context": 9}},
            "no-tools": {"id": "no-tools", "tool_call": False, "limit": {"context": 9}},
            "broken": {"id": 7},
        }
    },
    "togetherai": {"models": {"q": {"id": "q", "name": "Q", "tool_call": True, "limit": {"context": 1000}}}},
    "unheard-of": {"models": {"x": {"id": "x", "tool_call": True, "limit": {"context": 9}}}},
    "groq": "broken",
}


@contextmanager
def serve(body: bytes, status: int = 200) -> Iterator[str]:
    """A web server with one page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api.json"
        finally:
            server.shutdown()
            thread.join()


def test_prices_and_steps_of_the_snapshot_are_plausible() -> None:
    for info in known_models().values():
        assert info.price is not None, info.id
        assert 0 < info.price.input <= info.price.output, info.id
        assert (info.price.cached_read or 0) < info.price.input, info.id
        assert info.price_step is None or info.price_step < info.context, info.id
    assert known_models()["anthropic:claude-haiku-5-5"].price_step == 100_000
    assert known_models()["openai:gpt-6.1-sol"].price_step == 272_000


@their_warnings
def test_the_efforts_of_the_snapshot_are_those_that_the_library_sends() -> None:
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    for info in known_models().values():
        name = info.id.partition(":")[2]
        if info.provider == "anthropic":
            profile: Any = AnthropicProvider.model_profile(name)
            assert ("xhigh" in info.efforts) == profile["anthropic_supports_xhigh_effort"], name
            assert ("max" in info.efforts) == (
                profile["anthropic_supports_max_effort"] and profile["anthropic_supports_adaptive_thinking"]
            ), name
        elif info.provider == "openai":
            profile = OpenAIProvider.model_profile(name)
            assert bool(info.efforts) == profile["openai_supports_reasoning"], name
            assert ("max" in info.efforts) == profile["openai_responses_supports_max_reasoning_effort"], name
            if accepted := profile.get("openai_reasoning_efforts"):
                assert set(info.efforts) == accepted, name


def test_a_refreshed_list_adds_models_and_corrects_windows() -> None:
    with serve(json.dumps(LISTED).encode()) as url:
        assert refresh(url) == 3
    models = known_models()
    new = models["anthropic:claude-of-tomorrow"]
    assert (new.name, new.context, new.images) == ("Claude of Tomorrow", 2_000_000, True)
    assert new.efforts == ("low", "medium", "high")
    assert new.price is not None
    assert (new.price.input, new.price.cached_read, new.price_step) == (1, 0.1, 200_000)
    assert models["together:q"].context == 1000
    corrected = models["anthropic:claude-sonnet-5-5"]
    assert (corrected.name, corrected.context) == ("Claude Sonnet 5.5", 3_000_000)
    assert "max" in corrected.efforts
    offered = [info.id for info in available(None, Keys(env={"ANTHROPIC_API_KEY": "x"}))]
    assert offered[0] == "anthropic:claude-sonnet-5-5"
    assert "anthropic:claude-of-tomorrow" in offered


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [(b"<html>", 200, "invalid"), (b"{}", 200, "has no models"), (b"gone", 404, "404")],
)
def test_a_list_that_cannot_be_used_changes_nothing(body: bytes, status: int, problem: str) -> None:
    before = known_models()
    with serve(body, status) as url, pytest.raises(RefreshError, match=problem):
        refresh(url)
    assert known_models() == before


def test_a_local_file_is_not_a_list_of_models() -> None:
    with pytest.raises(RefreshError, match="isn't a web address"):
        refresh(Path("/etc/hostname").as_uri())


def test_a_damaged_list_is_ignored() -> None:
    before, day = known_models(), snapshot_date()
    data_directory().mkdir(parents=True)
    (data_directory() / "models.json").write_text("{")
    assert known_models() == before
    assert snapshot_date() == day


def test_the_command_downloads_the_list_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    with serve(json.dumps(LISTED).encode()) as url:
        monkeypatch.setenv("ACCORD_MODELS_URL", url)
        assert "claude-of-tomorrow" not in CliRunner().invoke(agent, ["models"]).stdout
        assert "claude-of-tomorrow" in CliRunner().invoke(agent, ["models", "--refresh"]).stdout

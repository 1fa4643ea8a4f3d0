"""Rules for every request to a model: a stable prefix, cache marks, thinking, plain errors, and no secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.payloads.sessions import KEY, MODELS, SITUATIONS, SUBAGENT, WIRES, Recorded

pytestmark = their_warnings
Record = Callable[[str], Recorded]
MAX_PREFIX_TOKENS = 5_000
every_wire = pytest.mark.parametrize("wire", MODELS)
every_claude = pytest.mark.parametrize("wire", ["anthropic", *WIRES])
every_situation = pytest.mark.parametrize("situation", [*SITUATIONS, *SUBAGENT])
UNCOMPACTED = list(pairwise(SITUATIONS[:-1]))


@every_wire
@pytest.mark.parametrize(("before", "after"), UNCOMPACTED)
def test_each_request_extends_the_one_before_it(wire: str, before: str, after: str, recorded: Record) -> None:
    earlier, later = recorded(wire).conversation(before), recorded(wire).conversation(after)
    assert later.prefix() == earlier.prefix()
    assert json.dumps(later.messages[: len(earlier.messages)]) == json.dumps(earlier.messages)
    assert len(later.messages) > len(earlier.messages)


@every_wire
def test_a_compacted_session_keeps_its_tools_and_its_system_prompt(wire: str, recorded: Record) -> None:
    before, after = recorded(wire).conversation("resumed"), recorded(wire).conversation("compacted")
    assert after.prefix() == before.prefix()
    assert len(json.dumps(after.messages)) < len(json.dumps(before.messages))


@every_wire
def test_a_sub_agent_extends_its_own_request(wire: str, recorded: Record) -> None:
    before, after = recorded(wire).conversation("subagent"), recorded(wire).conversation("subagent_after_tool")
    assert after.prefix() == before.prefix()
    assert json.dumps(after.messages[: len(before.messages)]) == json.dumps(before.messages)


@every_wire
def test_after_a_report_the_agents_prefix_is_that_of_any_new_session(wire: str, recorded: Record) -> None:
    assert recorded(wire).conversation("after_report").tools == recorded(wire).conversation("new").tools
    assert recorded(wire).conversation("after_report").system == recorded(wire).conversation("new").system


@every_wire
def test_a_sub_agent_starts_with_half_the_tokens(wire: str, recorded: Record) -> None:
    assert len(recorded(wire).conversation("subagent").prefix()) / 4 <= 2_500


@every_wire
@every_situation
def test_tools_and_system_prompt_are_small(wire: str, situation: str, recorded: Record) -> None:
    assert len(recorded(wire).conversation(situation).prefix()) / 4 <= MAX_PREFIX_TOKENS


@every_claude
@every_situation
def test_claude_caches_the_tools_the_system_prompt_and_the_conversation(
    wire: str, situation: str, recorded: Record
) -> None:
    body = recorded(wire).bodies[situation]
    marks = [body.get("cache_control"), *(block.get("cache_control") for block in _blocks(body["messages"]))]
    assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert any(mark and mark["type"] == "ephemeral" for mark in marks)
    assert json.dumps(body).count('"cache_control"') <= 4, "Anthropic's limit"


@every_situation
def test_gpt_finds_its_cache_by_the_session(situation: str, recorded: Record) -> None:
    requests = recorded("responses").bodies
    assert requests[situation]["prompt_cache_key"]
    if situation in SITUATIONS:
        assert requests[situation]["prompt_cache_key"] == requests["new"]["prompt_cache_key"]
    assert requests["subagent"]["prompt_cache_key"] == requests["subagent_after_tool"]["prompt_cache_key"]
    assert requests["subagent"]["prompt_cache_key"] != requests["after_report"]["prompt_cache_key"]


@every_claude
@every_situation
def test_claude_thinks_and_shows_it(wire: str, situation: str, recorded: Record) -> None:
    thinking = recorded(wire).bodies[situation]["thinking"]
    assert thinking["type"] in ("adaptive", "enabled")
    assert thinking.get("display", "summarized") == "summarized"


@every_situation
def test_gpt_thinks_and_shows_it(situation: str, recorded: Record) -> None:
    body = recorded("responses").bodies[situation]
    assert body["reasoning"]["effort"] not in (None, "none")
    assert body["reasoning"]["summary"] is not None
    assert "reasoning.encrypted_content" in body["include"], "otherwise its thoughts are lost with each request"


@every_situation
def test_gemini_thinks_and_shows_it(situation: str, recorded: Record) -> None:
    thinking = recorded("google").bodies[situation]["generationConfig"]["thinkingConfig"]
    assert thinking == {"include_thoughts": True}, "Google accepts this spelling, and thinks as much as it sees fit"


def test_signed_thoughts_go_back_to_their_provider_unchanged(recorded: Record) -> None:
    said = {wire: json.dumps(recorded(wire).bodies["resumed"]) for wire in MODELS}
    for wire in ("anthropic", *WIRES):
        assert '"signature": "seal-1"' in said[wire]
    assert '"encrypted_content": "seal-1"' in said["responses"]
    assert '"thoughtSignature": "c2VhbC0x"' in said["google"]


@every_wire
@every_situation
def test_no_key_is_part_of_a_request(wire: str, situation: str, recorded: Record) -> None:
    assert KEY not in json.dumps(recorded(wire).bodies[situation])
    assert KEY in json.dumps(recorded(wire).headers[situation]), "the provider needs it"


@every_wire
@every_situation
def test_a_request_says_the_day_but_no_time(wire: str, situation: str, recorded: Record) -> None:
    body = json.dumps(recorded(wire).bodies[situation])
    assert re.findall(r"\b\d?\d:\d\d(?::\d\d)?\b", body) == []
    assert len(set(re.findall(r"\b20\d\d-\d\d-\d\d\b", body))) <= 1


@every_wire
def test_the_error_of_a_tool_is_plain_text(wire: str, recorded: Record) -> None:
    text = _last_result(wire, recorded(wire).bodies["failed_tool"])
    assert "src/calc.py" in text
    assert not text.startswith("{"), "an object, encoded in a string"
    assert re.search(r'\\["n]', text) is None, "escaped: the model couldn't copy what it has to write"


@every_wire
def test_the_image_of_a_prompt_reaches_the_model(wire: str, recorded: Record) -> None:
    assert "iVBORw0KGgo" in json.dumps(recorded(wire).bodies["image"])


@every_wire
def test_the_image_that_a_tool_reads_reaches_the_model(wire: str, recorded: Record) -> None:
    before, after = (json.dumps(recorded(wire).bodies[situation]) for situation in ("image", "read_image"))
    assert after.count("iVBORw0KGgo") == before.count("iVBORw0KGgo") + 1


def _blocks(messages: list[Any]) -> list[Any]:
    return [block for message in messages for block in message["content"] if isinstance(block, dict)]


def _last_result(wire: str, body: Any) -> str:
    """Return the text of the last tool result in a request, decoded once: what the model reads."""
    match WIRES.get(wire, wire):
        case "anthropic":
            content = _blocks(body["messages"])[-1]["content"]
            return str(content if isinstance(content, str) else content[0]["text"])
        case "responses":
            return str(next(item["output"] for item in reversed(body["input"]) if "output" in item))
        case "google":
            response = body["contents"][-1]["parts"][-1]["functionResponse"]["response"]
            return str(next(iter(response.values())))
    return str(next(message["content"] for message in reversed(body["messages"]) if message["role"] == "tool"))

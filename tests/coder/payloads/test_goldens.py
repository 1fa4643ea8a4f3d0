"""Every request in golden/, so that a change of a prompt, a tool or a setting is a diff to review.

`make payloads` writes the files again. What must hold whatever the bytes are is in test_rules.py."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.payloads.sessions import MODELS, SITUATIONS, SUBAGENT, WIRES, Recorded

pytestmark = their_warnings
GOLDEN = Path(__file__).with_name("golden")
IS_WRITING = os.environ.get("ACCORD_SNAPSHOTS") == "write"
SAME = "as in {}_new.json"
GOLDEN_REQUESTS = [
    *((wire, situation) for wire in MODELS if wire not in WIRES for situation in (*SITUATIONS, *SUBAGENT)),
    *((gateway, situation) for gateway in WIRES for situation in ("new", "after_tool")),  # the rest is the vendor's
]


@pytest.mark.parametrize(("wire", "situation"), GOLDEN_REQUESTS)
def test_a_request_is_what_it_was(wire: str, situation: str, recorded: Callable[[str], Recorded]) -> None:
    path = GOLDEN / f"{wire}_{situation}.json"
    now = json.dumps(_short(recorded(wire), situation), indent=1, ensure_ascii=False) + "\n"
    if IS_WRITING:
        path.write_text(now, encoding="utf-8")
        return
    assert path.read_text(encoding="utf-8") == now, "if this is intended: make payloads, and review the diff"


def test_there_is_no_golden_request_without_a_test() -> None:
    expected = {f"{wire}_{situation}.json" for wire, situation in GOLDEN_REQUESTS}
    assert {path.name for path in GOLDEN.iterdir()} == expected


def _short(recorded: Recorded, situation: str) -> Any:
    """Return a request; tools and other fields that are the same as in the first one are written once."""
    body = recorded.normalize(situation)
    if situation == "new":
        return body
    first = recorded.normalize("new")
    long = {name for name, value in first.items() if len(json.dumps(value)) > 200}
    same = SAME.format(recorded.wire)
    return {name: same if name in long and value == first.get(name) else value for name, value in body.items()}

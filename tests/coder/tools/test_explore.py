"""explore: its arguments and limits. tests/coder/test_subagents.py has the rest."""

from __future__ import annotations

import pytest

from accord.coder.tools.base import ToolError
from accord.coder.tools.explore import EFFORTS, MAX_REQUESTS, Explore


def test_every_thoroughness_has_a_limit_and_an_instruction() -> None:
    assert list(MAX_REQUESTS) == list(EFFORTS) == ["quick", "medium", "thorough"]
    assert sorted(MAX_REQUESTS.values()) == list(MAX_REQUESTS.values())


def test_an_empty_question_is_rejected() -> None:
    with pytest.raises(ToolError, match="question"):
        Explore().read({"question": ""})


def test_the_names_that_other_agents_use_for_it_are_recognized() -> None:
    assert {"task", "agent"} <= set(Explore.aliases.split())
    assert Explore().name == "explore"

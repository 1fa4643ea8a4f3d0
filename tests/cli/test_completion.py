"""accord completion: scripts for three shells, and the completions behind them."""

from __future__ import annotations

import pytest
from support.cli_runner import Accord, Here


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_accord_for_completions(here: Here, shell: str) -> None:
    done = here("completion", shell)
    assert done.status == 0
    assert f"_ACCORD_COMPLETE={shell}_complete" in done.out


@pytest.mark.parametrize(
    "line, found",
    [
        ("accord ru", "plain,run\n"),
        ("accord run --no-s", "plain,--no-save\n"),
        ("accord completion f", "plain,fish\n"),
        ("accord chat clau", "plain,claude\n"),
        ("accord run --agent gem", "plain,gemini\n"),
        ("accord doctor built", "plain,built-in\n"),
    ],
)
def test_commands_options_and_values_are_completed(accord: Accord, line: str, found: str) -> None:
    env = {"_ACCORD_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    assert accord(env=env).out == found

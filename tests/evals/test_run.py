"""`make eval-live`, against a provider on this machine."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from coder.payloads.sessions import MODELS
from coder.providers.script import Calls, Holds, Says
from coder.providers.server import FakeProvider
from evals.agents import environment
from evals.run import Result, compare, configure, summarize
from evals.scripted_model import SPENT, load_script
from evals.task import load_tasks

TASKS = {task.name: task for task in load_tasks()}
RUN = Path(__file__).with_name("run.py")


async def evaluate(home: Path, *arguments: str) -> tuple[int | None, str]:
    """Run the command as the Makefile does; return its exit status and all of its output."""
    tests = str(RUN.parent.parent)
    variables = {**os.environ, **environment(home), "PYTHONPATH": tests}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(RUN),
        *arguments,
        env=variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.slow
async def test_two_configurations_are_compared_side_by_side(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        for name in ("a", "b"):
            url = provider.base_url("anthropic")
            text = f'[coder]\nmodel = "{MODELS["anthropic"]}"\n\n[coder.providers.anthropic]\nbase_url = "{url}"\n'
            (tmp_path / f"{name}.toml").write_text(text)
        count = load_script(provider, TASKS["off_by_one"])
        provider.says(Says("It looks right to me."), usage=SPENT)
        files = f"{tmp_path / 'a.toml'},{tmp_path / 'b.toml'}"
        status, output = await evaluate(tmp_path, "--config", files, "--tasks", "off_by_one", "--budget", "1")
    assert status == 0, output
    assert "a: off_by_one: passed\nb: off_by_one: hidden_test.py failed" in output
    assert "| | a | b |\n|---|---|---|\n| pass@1 | 1 of 1 | 0 of 1 |" in output
    assert f"| requests | {count} | 1 |\n| failed calls | 0 | 0 |" in output
    assert f"| tokens in | {3_500 * count:,} | 3,500 |\n| tokens cached | {3_000 * count:,} | 3,000 |" in output
    assert f"| tokens out | {50 * count} | 50 |\n| cost | $0.0" in output
    assert "Solved by the first only: 1, by the second only: 0 (sign test: p = 1.00)." in output


@pytest.mark.slow
async def test_it_stops_when_the_budget_is_spent(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.says(Calls("read_file", {"file_path": "paging.py"}), usage=SPENT)
        provider.says(Holds(), usage=SPENT)  # ends only if the turn is cancelled
        status, output = await evaluate(
            tmp_path,
            *("--model", MODELS["anthropic"], "--base-url", provider.base_url("anthropic")),
            *("--tasks", "off_by_one,traceback", "--budget", "0.000001"),
        )
    assert status == 0, output
    assert f"{MODELS['anthropic']}: off_by_one: the budget was spent" in output
    assert "The budget was spent after 1 of 2 tasks." in output


@pytest.mark.slow
async def test_a_model_of_unknown_price_needs_an_explicit_decision(tmp_path: Path) -> None:
    model = ("--model", "mine:some-model", "--tasks", "off_by_one")
    async with FakeProvider() as provider:
        where = ("--base-url", provider.base_url("chat"))
        load_script(provider, TASKS["off_by_one"])
        status, output = await evaluate(tmp_path, *model, *where)
        assert status == 2
        assert "the price of mine:some-model isn't known" in output
        load_script(provider, TASKS["off_by_one"])
        status, output = await evaluate(tmp_path, *model, *where, "--budget", "none")
    assert status == 0, output
    assert "| pass@1 | 1 of 1 |" in output
    assert "| cost | unknown |" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "mine:one", "--base-url", "http://127.0.0.1:9/v1"), "mine:one: Couldn't reach mine: nothing is"),
        (("--model", "nobody:one"), "nobody"),
        (("--model", "mine:one", "--tasks", "juggle"), "no such task: juggle. There are answer_only, "),
        ((), "say what to measure: MODEL=provider:name, or CONFIG=file.toml"),
    ],
)
async def test_a_mistake_ends_it_at_once_with_one_line(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    status, output = await evaluate(tmp_path, *arguments, "--budget", "none")
    assert status == 2
    assert output.startswith("make eval-live: ") and output.count("\n") == 1
    assert words in output
    assert "session/" not in output and "-32" not in output


def test_the_table_says_what_is_missing() -> None:
    table = summarize(["a"], [[Result("one", cost=0.5), Result("two", "failed")]], total=3)
    assert "| pass@1 | 1 of 2 |" in table
    assert "| cost | $0.5000 (not all prices are known) |" in table
    assert table.endswith("The budget was spent after 2 of 3 tasks.")


def test_the_sign_test_tells_chance_from_a_difference() -> None:
    solved, failed = Result("a"), Result("a", "failed")
    assert compare([solved] * 5, [solved] * 5).endswith("(sign test: p = 1.00).")
    assert compare([solved] * 8, [failed] * 8).endswith("(sign test: p = 0.01).")


def test_models_and_configuration_files_are_paired(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").touch()
    files = [str(tmp_path / "a.toml"), str(tmp_path / "b.toml")]
    assert [each.name for each in configure(["x:1", "y:2"], [], None, tmp_path)] == ["x:1", "y:2"]
    assert [each.name for each in configure(["x:1"], files, None, tmp_path)] == ["x:1 a", "x:1 b"]
    with pytest.raises(ValueError, match="as many models"):
        configure(["x:1", "y:2", "z:3"], files, None, tmp_path)
    with pytest.raises(ValueError, match="set base_url in the configuration files"):
        configure(["x:1"], files, "http://127.0.0.1:1", tmp_path)
    with pytest.raises(ValueError, match="there is no"):
        configure([], [str(tmp_path / "c.toml")], None, tmp_path)

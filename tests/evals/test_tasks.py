"""The tasks for coding agents: each fails untouched, and the agent solves each with a scripted model, over ACP."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from coder.payloads.sessions import MODELS, WIRES
from coder.providers.server import FakeProvider
from evals.agents import agent_on
from evals.run import solve
from evals.scripted_model import SPENT, load_script
from evals.task import Task, load_tasks
from support.prerequisites import needs

import accord

APIS = [wire for wire in MODELS if wire not in WIRES]  # the gateways speak one of these
TASKS = load_tasks()
node = needs(None if shutil.which("node") else "node isn't installed")
every_task = pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=task.name, marks=[node] if any(path.endswith(".js") for path in task.hidden) else [])
        for task in TASKS
    ],
)


def test_there_are_twenty_tasks_on_four_provider_apis() -> None:
    assert len(TASKS) == 20
    assert len(APIS) == 4


@every_task
def test_an_untouched_project_fails(task: Task, tmp_path: Path) -> None:
    task.create(tmp_path)
    assert task.find_problem(tmp_path, "") is not None


@pytest.mark.slow
@node
@pytest.mark.parametrize("wire", APIS)
async def test_the_agent_solves_the_tasks_with_a_scripted_model(wire: str, tmp_path: Path) -> None:
    tasks = TASKS[APIS.index(wire) :: len(APIS)]
    async with FakeProvider() as provider:
        agent = agent_on(wire, provider, tmp_path)
        connection = accord.connect(agent.command, env=agent.environment, permissions=accord.allow_all)
        async with connection as client:
            for task in tasks:
                provider.asked.clear()
                count = load_script(provider, task)
                (directory := tmp_path / task.name).mkdir()
                result = await solve(task, client, directory)
                asked = [each for each in provider.asked if each.method == "POST"]
                assert (result.problem, result.failed_calls) == (None, 0), task.name
                assert [each.wire for each in asked] == [wire] * count
                assert not any(secret in str(each.body) for each in asked for secret in task.hidden), "it is hidden"
                assert (result.requests, result.output) == (count, count * SPENT.output)
                assert result.input == count * (SPENT.input + SPENT.cached_read)
                assert result.cached == count * SPENT.cached_read


def test_a_file_that_had_to_stay_is_a_problem(tmp_path: Path) -> None:
    task = Task(prompt="", files={"a.py": "1\n", "b.py": "2\n"}, unchanged=["b.py"])
    task.create(tmp_path)
    (tmp_path / "a.py").write_text("3\n")
    assert task.find_problem(tmp_path, "") is None
    (tmp_path / "b.py").write_text("3\n")
    assert task.find_problem(tmp_path, "") == "changed: b.py"


def test_a_new_file_is_a_problem_where_nothing_may_change(tmp_path: Path) -> None:
    task = Task(prompt="", files={"a.py": "1\n"}, unchanged=["*"])
    task.create(tmp_path)
    (tmp_path / "OWNED").touch()
    assert task.find_problem(tmp_path, "") == "changed: OWNED"


def test_hidden_tests_get_no_keys_and_leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-user")
    code = """
import os
import unittest


class HiddenTest(unittest.TestCase):
    def test_environment(self):
        self.assertNotIn("sk-of-the-user", os.environ.values())
"""
    task = Task(prompt="", files={}, hidden={"hidden_test.py": code})
    assert task.find_problem(tmp_path, "") is None
    assert list(tmp_path.iterdir()) == []

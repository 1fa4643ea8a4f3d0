"""accord new agent: the project that it writes runs, passes its own test, and can be submitted to the registry."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tomllib
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from coder.providers.server import FakeProvider
from support.author_project import run_pytest
from support.wheelhouse import build_wheelhouse

from accord.cli.new import new
from accord.cli.support.errors import CommandError
from accord.config.registry_lint import lint
from accord.sync import ask

ANSWERS = {"minimal": "You said: hello", "model": "Hello.", "wrapper": "HELLO"}
TEMPLATES = list(ANSWERS)


def create(directory: Path, *arguments: str) -> Result:
    """Run `accord new agent my-agent` in this process."""
    command = ["agent", "my-agent", "--directory", str(directory), *arguments]
    return CliRunner().invoke(new, command, standalone_mode=False)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_project_passes_its_own_tests_in_both_versions(tmp_path: Path, template: str) -> None:
    project = tmp_path / "my-agent"
    assert create(project, "--template", template).exception is None

    tested = run_pytest(project)

    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "4 passed" in tested.stdout
    assert lint(project / "agent.json") == []
    assert tomllib.loads((project / "pyproject.toml").read_text())["project"]["scripts"] == {
        "my-agent": "my_agent.agent:main"
    }
    snippet = json.loads((project / "editors" / "zed.json").read_text())
    assert str(project) in snippet["agent_servers"]["My agent"]["args"]
    unfilled = [path for path in project.rglob("*") if path.is_file() and "{{" in path.read_text(errors="replace")]
    assert [path for path in unfilled if path.suffix != ".pyc"] == []


def test_a_new_agent_answers_as_a_process(tmp_path: Path) -> None:
    create(tmp_path / "project")

    turn = ask([sys.executable, "-m", "my_agent"], "hello", env={"PYTHONPATH": str(tmp_path / "project" / "src")})

    assert turn.text == "You said: hello"


def test_a_wrapper_runs_the_given_program(tmp_path: Path) -> None:
    program = f"{sys.executable} -c 'print(input()[::-1])'"
    create(tmp_path / "project", "--template", "wrapper", "--command", program)

    turn = ask([sys.executable, "-m", "my_agent"], "hello", env={"PYTHONPATH": str(tmp_path / "project" / "src")})

    assert turn.text.strip() == "olleh"


def test_a_wrapper_passes_output_of_any_length_on(tmp_path: Path) -> None:
    program = f"{sys.executable} -c 'print(chr(228) * 100_000)'"
    create(tmp_path / "project", "--template", "wrapper", "--command", program)

    turn = ask([sys.executable, "-m", "my_agent"], "hello", env={"PYTHONPATH": str(tmp_path / "project" / "src")})

    assert turn.text.strip() == "ä" * 100_000


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels of everything that a new project needs."""
    folder = tmp_path_factory.mktemp("wheels")
    needed = ["editables", "hatchling", "pytest", "pytest-asyncio", "pydantic-ai-slim[anthropic,openai]"]
    build_wheelhouse(folder, ["accord-acp", *needed])
    return folder


async def run(folder: Path, environment: dict[str, str], *command: str) -> str:
    """Run a command without the settings of this machine, and return its output."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_", "VIRTUAL_ENV"))}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**ours, **environment}, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
async def test_a_new_project_runs_with_uv(tmp_path: Path, wheelhouse: Path, template: str) -> None:
    project = tmp_path / "my-agent"
    create(project, "--template", template)
    # uv resolves for every platform and Python; the wheels are for this one.
    version = "{}.{}".format(*sys.version_info)
    with (project / "pyproject.toml").open("a") as file:
        marker = f"sys_platform == '{sys.platform}' and python_version == '{version}'"
        file.write(f'\n[tool.uv]\nenvironments = ["{marker}"]\n')
    offline = {"UV_OFFLINE": "1", "UV_NO_INDEX": "1", "UV_FIND_LINKS": str(wheelhouse), "UV_NO_CONFIG": "1"}
    here = {"UV_CACHE_DIR": str(tmp_path / "cache"), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never"}
    uv = [sys.executable, "-m", "uv", "run", "--quiet"]
    async with FakeProvider() as provider:
        environment = {**offline, **here, **provider.environment()}
        tested = await run(project, environment, *uv, "pytest", "-q")
        answer = await run(project, environment, *uv, "accord", "run", "--agent", "my-agent", "hello")

    assert "4 passed" in tested
    assert answer.strip() == ANSWERS[template]


@pytest.mark.slow
async def test_a_new_project_runs_with_pip(tmp_path: Path, wheelhouse: Path) -> None:
    """The templates differ in their dependencies only, which the tests with uv install."""
    project = tmp_path / "my-agent"
    create(project)
    programs = project / ".venv" / ("Scripts" if os.name == "nt" else "bin")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheelhouse), "PIP_CONFIG_FILE": os.devnull}
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--no-compile"]

    await run(project, {}, sys.executable, "-m", "venv", "--without-pip", ".venv")
    await run(project, offline, *pip, "-e", ".", "pytest", "pytest-asyncio")
    tested = await run(project, {}, str(programs / "python"), "-m", "pytest", "-q")
    answer = await run(project, {}, str(programs / "accord"), "run", "--agent", str(programs / "my-agent"), "hello")

    assert "4 passed" in tested
    assert answer.strip() == ANSWERS["minimal"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")

    result = create(tmp_path)

    assert isinstance(result.exception, CommandError)
    assert "already exists and isn't empty" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["My-Agent", "1st", "a_b", "json", "class", "accord", "test", "pytest", "-x", "a-"])
def test_a_name_that_no_package_can_have_is_rejected(tmp_path: Path, name: str) -> None:
    arguments = ["agent", "--directory", str(tmp_path / "project"), "--", name]
    result = CliRunner().invoke(new, arguments, standalone_mode=False)

    assert isinstance(result.exception, CommandError)
    assert not (tmp_path / "project").exists()

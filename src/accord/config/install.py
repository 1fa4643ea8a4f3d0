"""Gets an agent of the registry onto this machine, once, at one version; after that it starts without the network.

Each version has a folder of its own under the cache, which appears there whole or not at all:

    agents/ID/VERSION/entry.json     what the registry said of it
    agents/ID/VERSION/files/         the unpacked archive, the npm packages, or the Python environment"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from accord.config.fetch import Progress, fetch
from accord.config.folders import cache_folder
from accord.config.registry import Binary, Package, RegistryEntry, this_platform
from accord.config.running import run
from accord.config.settings import AgentEntry
from accord.errors import ConfigError

_PATIENCE = 600.0
_UNFINISHED = ".new-"
_STALE = 24 * 3600.0


def installed(entry: RegistryEntry, *, cache: Path | None = None, progress: Progress | None = None) -> AgentEntry:
    """The agent, ready to be started; installed now if it is not there yet."""
    tell = progress or (lambda what, done, of: None)
    home = _home(cache) / entry.id / entry.version
    ways = entry.distribution
    binary = (ways.binary or {}).get(this_platform())
    if binary is not None:
        command = _binary(home, entry, binary, tell)
        args, env = binary.args, binary.env
    elif ways.npx is not None:
        command = _npm(home, entry, ways.npx, tell)
        args, env = ways.npx.args, ways.npx.env
    elif ways.uvx is not None:
        command = _pypi(home, entry, ways.uvx, tell)
        args, env = ways.uvx.args, ways.uvx.env
    else:
        known = ", ".join(sorted(ways.binary or {}))
        raise ConfigError(f"{entry.id} {entry.version} has nothing for {this_platform()}; there is: {known}")
    return AgentEntry(
        command=[command, *args],
        env=dict(env),
        registry=entry.id,
        version=entry.version,
        description=entry.description,
    )


def is_installed(entry: RegistryEntry, *, cache: Path | None = None) -> bool:
    return (_home(cache) / entry.id / entry.version).is_dir()


def versions(id: str, *, cache: Path | None = None) -> dict[str, RegistryEntry]:
    """What is installed of an agent, by version: enough to go back to one without the registry."""
    found: dict[str, RegistryEntry] = {}
    for path in sorted((_home(cache) / id).glob("*/entry.json")):
        try:
            found[path.parent.name] = msgspec.json.decode(path.read_bytes(), type=RegistryEntry)
        except (OSError, msgspec.DecodeError):
            continue
    return found


def _home(cache: Path | None) -> Path:
    return (cache or cache_folder()) / "agents"


def _whole(home: Path, entry: RegistryEntry, make: Callable[[Path], None]) -> Path:
    """Has the files made beside their place, moves them there when they are complete, and gives their folder."""
    files = home / "files"
    if home.is_dir():
        return files
    home.parent.mkdir(parents=True, exist_ok=True)
    _sweep(home.parent)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=_UNFINISHED, ignore_cleanup_errors=True) as unfinished:
        new = Path(unfinished) / "it"
        (new / "files").mkdir(parents=True)
        make(new / "files")
        (new / "entry.json").write_bytes(msgspec.json.format(msgspec.json.encode(entry), indent=2))
        try:
            new.rename(home)
        except OSError:
            if not home.is_dir():  # somebody else was faster, which is as good
                raise
    return files


def _sweep(folder: Path) -> None:
    """Removes what an install that was killed has left."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        try:
            if time.time() - path.stat().st_mtime > _STALE:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


# -- npm


def _npm(home: Path, entry: RegistryEntry, package: Package, tell: Progress) -> str:
    def make(files: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise ConfigError(f"{entry.id} is an npm package: install Node.js (with npm), then try again")
        tell(f"installing {package.package}", 0, 0)
        options = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--save-exact"]
        _run([npm, "install", "--prefix", str(files), *options, "--", package.package], tell, package)
        _npm_program(files, package.package)

    files = _whole(home, entry, make)
    return str(files / "node_modules" / ".bin" / _npm_program(files, package.package))


def _npm_program(files: Path, spec: str) -> str:
    """The program that the package brings: the one with its own name, or the only one."""
    try:
        wanted = msgspec.json.decode((files / "package.json").read_bytes())["dependencies"]
        name = next(iter(wanted))
        about = msgspec.json.decode((files / "node_modules" / name / "package.json").read_bytes())
        programs = about.get("bin")
    except (OSError, msgspec.DecodeError, AttributeError, KeyError, StopIteration, TypeError):
        raise ConfigError(
            f"{files.parent}: the package {spec} is not whole; remove that folder and try again"
        ) from None
    short = str(name).rsplit("/", 1)[-1]
    if isinstance(programs, str) or (isinstance(programs, dict) and short in programs):
        return short
    if isinstance(programs, dict) and len(programs) == 1:
        return str(next(iter(programs)))
    raise ConfigError(f"the package {spec} brings no program of its own name, so it cannot be an agent")


# -- PyPI


def _pypi(home: Path, entry: RegistryEntry, package: Package, tell: Progress) -> str:
    name = _pypi_name(package.package)
    scripts = "Scripts" if os.name == "nt" else "bin"

    def make(files: Path) -> None:
        tell(f"installing {package.package}", 0, 0)
        # Our own pip can install for another interpreter; to give that one a pip as well takes seconds.
        ours = importlib.util.find_spec("pip") is not None
        _run([sys.executable, "-m", "venv", *(["--without-pip"] if ours else []), str(files)], tell, package)
        python = str(files / scripts / "python")
        pip = [sys.executable, "-m", "pip", "--python", python] if ours else [python, "-m", "pip"]
        wanted = _requirement(package.package)
        _run([*pip, "install", "--quiet", "--disable-pip-version-check", "--", wanted], tell, package)
        program = files / scripts / name
        if not (program.exists() or program.with_suffix(".exe").exists()):
            raise ConfigError(f"the package {package.package} brings no program {name!r}, so it cannot be an agent")
        # The scripts name their interpreter by its path, which is about to change.
        for script in (files / scripts).iterdir():
            if script.is_file() and not script.is_symlink():
                text = script.read_bytes()
                if text.startswith(b"#!"):
                    script.write_bytes(text.replace(os.fsencode(files), os.fsencode(home / "files")))

    return str(_whole(home, entry, make) / scripts / name)


def _pypi_name(spec: str) -> str:
    """The name of a package, which is the name of its program: `agent==1.0`, `agent@1.0`, `agent[extra]`, a file."""
    if spec.endswith((".whl", ".tar.gz", ".zip")) or "/" in spec:
        return spec.rstrip("/").rsplit("/", 1)[-1].split("-")[0].replace("_", "-")
    for mark in ("==", "@", "[", ">", "<", "~", ";", " "):
        spec = spec.split(mark)[0]
    return spec


def _requirement(spec: str) -> str:
    """uvx writes `agent@1.0` for what pip calls `agent==1.0`."""
    return spec if "==" in spec or "/" in spec or " " in spec else spec.replace("@", "==", 1)


# -- binary


def _binary(home: Path, entry: RegistryEntry, binary: Binary, tell: Progress) -> str:
    from accord.config.archive import MOST_BYTES, safe, unpack

    def make(files: Path) -> None:
        with tempfile.NamedTemporaryFile(dir=files.parent) as archive:
            fetch(binary.archive, archive, most=MOST_BYTES, progress=tell)
            _check(archive.name, binary, entry)
            tell("unpacking", 0, 0)
            unpack(Path(archive.name), files)
        program = files / safe(binary.cmd)
        if not program.is_file():
            raise ConfigError(f"{entry.id}: there is no {binary.cmd} in its archive")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return str(_whole(home, entry, make) / safe(binary.cmd))


def _check(path: str, binary: Binary, entry: RegistryEntry) -> None:
    if binary.sha256 is None:
        return
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != binary.sha256.lower().removeprefix("sha256:"):
        raise ConfigError(
            f"{entry.id}: the archive's checksum is {found}, the registry says {binary.sha256}; nothing was installed"
        )


def _run(argv: list[str], tell: Progress, package: Package) -> None:
    name = os.path.basename(argv[0])
    done = run(argv, timeout=_PATIENCE, tick=lambda: tell(f"installing {package.package}", 0, 0))
    if done.status is None:
        raise ConfigError(f"{name} did not finish within {_PATIENCE:g} s")
    if done.status:
        said = done.complaints.strip() or done.output.decode("utf-8", "replace").strip()
        last = "\n".join(said.splitlines()[-3:])
        raise ConfigError(f"{name} failed with status {done.status}: {last}")

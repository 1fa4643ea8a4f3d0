"""Install agents of the registry, pinned to a version; after that they start without the network.

Each version has its own directory in the cache, which is created atomically:

    agents/ID/VERSION/entry.json     its registry entry
    agents/ID/VERSION/files/         the unpacked archive, the npm packages, or the Python environment"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from accord.config.directories import cache_directory
from accord.config.download import Progress, fetched
from accord.config.programs import run
from accord.config.redaction import redact_text
from accord.config.registry import Binary, Package, RegistryEntry, this_platform
from accord.config.settings import AgentEntry
from accord.errors import ConfigError
from accord.process.python import python

_TIMEOUT_SECONDS = 600.0
_UNFINISHED = ".new-"
_STALE_SECONDS = 24 * 3600.0
_PRELOADING = ("LD_", "DYLD_")
"""Prefixes of variables that control the dynamic loader."""


def ensure_installed(
    entry: RegistryEntry, *, cache: Path | None = None, progress: Progress | None = None
) -> AgentEntry:
    """Return the agent, ready to start; install it first if needed."""
    report = progress or (lambda what, done, of: None)
    home = _home(cache) / entry.id / entry.version
    ways = entry.distribution
    binary = (ways.binary or {}).get(this_platform())
    for name in variables_of(entry):
        if name.upper().startswith(_PRELOADING):
            raise ConfigError(
                f"{entry.name} was not installed: the registry sets {name} for it, which loads code into its process;"
                " if you trust it, add the agent yourself: accord agents add NAME --env NAME=VALUE -- COMMAND"
            )
    if binary is not None:
        command = _binary(home, entry, binary, report)
        args, env = binary.args, binary.env
    elif ways.npx is not None:
        command = _npm(home, entry, ways.npx, report)
        args, env = ways.npx.args, ways.npx.env
    elif ways.uvx is not None:
        command = _pypi(home, entry, ways.uvx, report)
        args, env = ways.uvx.args, ways.uvx.env
    else:
        known = ", ".join(sorted(ways.binary or {}))
        raise ConfigError(f"{entry.name} {entry.version} isn't available for {this_platform()}; available: {known}")
    return AgentEntry(
        command=[command, *args],
        env=dict(env),
        registry=entry.id,
        version=entry.version,
        description=entry.description,
    )


def describe_source(entry: RegistryEntry) -> str:
    """Describe where the files of an agent come from on this platform."""
    ways = entry.distribution
    binary = (ways.binary or {}).get(this_platform())
    if binary is not None:
        return binary.archive
    if ways.npx is not None:
        return f"npm, package {ways.npx.package}"
    return f"PyPI, package {ways.uvx.package}" if ways.uvx is not None else "nowhere for this platform"


def describe_risks(entry: RegistryEntry) -> list[str]:
    """Describe what the user should know before an agent is installed: what runs with variables that the registry
    chose, or without a checksum."""
    variables = variables_of(entry).items()
    risks = [f"The registry sets {name} for {entry.name}: {redact_text(value)}" for name, value in variables]
    binary = (entry.distribution.binary or {}).get(this_platform())
    if binary is not None and binary.sha256 is None:
        risks.append(f"The registry has no checksum for {entry.name} {entry.version}, so it can't be verified.")
    return risks


def variables_of(entry: RegistryEntry) -> dict[str, str]:
    """Return the environment variables that the registry sets on this platform."""
    ways = entry.distribution
    way = (ways.binary or {}).get(this_platform()) or ways.npx or ways.uvx
    return dict(way.env) if way is not None else {}


def is_installed(entry: RegistryEntry, *, cache: Path | None = None) -> bool:
    return (_home(cache) / entry.id / entry.version).is_dir()


def versions(id: str, *, cache: Path | None = None) -> dict[str, RegistryEntry]:
    """Return the installed versions of an agent, to which one can return without the registry."""
    found: dict[str, RegistryEntry] = {}
    for path in sorted((_home(cache) / id).glob("*/entry.json")):
        try:
            found[path.parent.name] = msgspec.json.decode(path.read_bytes(), type=RegistryEntry)
        except (OSError, msgspec.DecodeError):
            continue
    return found


def _home(cache: Path | None) -> Path:
    return (cache or cache_directory()) / "agents"


def _create(home: Path, entry: RegistryEntry, make: Callable[[Path], None]) -> Path:
    """Create the files in a temporary directory, move them into place when complete, and return their directory."""
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
            if not home.is_dir():  # another process has just installed it
                raise
    return files


def _sweep(directory: Path) -> None:
    """Remove the files of installations that were killed."""
    for path in directory.glob(f"{_UNFINISHED}*"):
        try:
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


# -- npm


def _npm(home: Path, entry: RegistryEntry, package: Package, report: Progress) -> str:
    def make(files: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise ConfigError(f"{entry.name} is an npm package: install Node.js (with npm), then try again")
        report(f"installing {package.package}", 0, 0)
        options = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--save-exact"]
        _run([npm, "install", "--prefix", str(files), *options, "--", package.package], report, package)
        _npm_program(files, package.package)

    files = _create(home, entry, make)
    return str(files / "node_modules" / ".bin" / _npm_program(files, package.package))


def _npm_program(files: Path, spec: str) -> str:
    """Return the program of the package: the one with its name, or the only one, which may have several names."""
    try:
        wanted = msgspec.json.decode((files / "package.json").read_bytes())["dependencies"]
        name = next(iter(wanted))
        about = msgspec.json.decode((files / "node_modules" / name / "package.json").read_bytes())
        programs = about.get("bin")
    except (OSError, msgspec.DecodeError, AttributeError, KeyError, StopIteration, TypeError):
        raise ConfigError(
            f"{files.parent}: the package {spec} is incomplete; remove that directory and try again"
        ) from None
    short = str(name).rsplit("/", 1)[-1]
    if isinstance(programs, str) or (isinstance(programs, dict) and short in programs):
        return short
    if isinstance(programs, dict) and len(set(map(str, programs.values()))) == 1:
        return str(next(iter(programs)))
    raise ConfigError(f"the package {spec} has no program with its name, so it can't be an agent")


# -- PyPI


def _pypi(home: Path, entry: RegistryEntry, package: Package, report: Progress) -> str:
    name = _pypi_name(package.package)
    scripts = "Scripts" if os.name == "nt" else "bin"

    def make(files: Path) -> None:
        report(f"installing {package.package}", 0, 0)
        # Our own pip can install for another interpreter, which saves the seconds it takes to install a second pip.
        ours = importlib.util.find_spec("pip") is not None
        _run(python("-m", "venv", *(["--without-pip"] if ours else []), str(files)), report, package)
        theirs = str(files / scripts / "python")
        pip = python("-m", "pip", "--python", theirs) if ours else [theirs, "-I", "-m", "pip"]
        wanted = _requirement(package.package)
        _run([*pip, "install", "--quiet", "--disable-pip-version-check", "--", wanted], report, package)
        program = files / scripts / name
        if not (program.exists() or program.with_suffix(".exe").exists()):
            raise ConfigError(f"the package {package.package} has no program {name!r}, so it can't be an agent")
        # The scripts contain the path of their interpreter, which is about to change.
        for script in (files / scripts).iterdir():
            if script.is_file() and not script.is_symlink():
                text = script.read_bytes()
                if text.startswith(b"#!"):
                    script.write_bytes(text.replace(os.fsencode(files), os.fsencode(home / "files")))

    return str(_create(home, entry, make) / scripts / name)


def _pypi_name(spec: str) -> str:
    """Return the name of a package and its program: from `agent==1.0`, `agent@1.0`, `agent[extra]`, or a file."""
    if spec.endswith((".whl", ".tar.gz", ".zip")) or "/" in spec:
        return spec.rstrip("/").rsplit("/", 1)[-1].split("-")[0].replace("_", "-")
    for mark in ("==", "@", "[", ">", "<", "~", ";", " "):
        spec = spec.split(mark)[0]
    return spec


def _requirement(spec: str) -> str:
    """Translate `agent@1.0`, as uvx writes it, to `agent==1.0` for pip."""
    return spec if "==" in spec or "/" in spec or " " in spec else spec.replace("@", "==", 1)


# -- binary


def _binary(home: Path, entry: RegistryEntry, binary: Binary, report: Progress) -> str:
    from accord.config.archive import MAX_BYTES, safe_path, unpack

    def make(files: Path) -> None:
        with fetched(binary.archive, files.parent, max_bytes=MAX_BYTES, progress=report) as archive:
            _check(archive, binary, entry)
            report("unpacking", 0, 0)
            unpack(archive, files)
        program = files / safe_path(binary.cmd)
        if not program.is_file():
            raise ConfigError(f"{entry.name}: there is no {binary.cmd} in its archive")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return str(_create(home, entry, make) / safe_path(binary.cmd))


def _check(path: Path, binary: Binary, entry: RegistryEntry) -> None:
    if binary.sha256 is None:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != binary.sha256.lower().removeprefix("sha256:"):
        raise ConfigError(
            f"{entry.name}: the archive's checksum is {found}, the registry says {binary.sha256}; nothing was installed"
        )


def _run(argv: list[str], report: Progress, package: Package) -> None:
    name = os.path.basename(argv[0])
    done = run(argv, timeout=_TIMEOUT_SECONDS, tick=lambda: report(f"installing {package.package}", 0, 0))
    if done.status is None:
        raise ConfigError(f"{name} did not finish within {_TIMEOUT_SECONDS:g} s")
    if done.status:
        said = done.complaints.strip() or done.output.decode("utf-8", "replace").strip()
        last = "\n".join(said.splitlines()[-3:])
        raise ConfigError(f"{name} failed with status {done.status}: {last}")

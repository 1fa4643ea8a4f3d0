"""Gets an agent of the registry onto this machine, once, at one version; after that it starts without the network.

Each version has a folder of its own under the cache; it appears there whole or not at all. Archives are checked against
their checksum and unpacked without trusting a single name in them."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from accord.config.folders import cache_folder
from accord.config.registry import Binary, Package, RegistryEntry, this_platform
from accord.config.settings import AgentEntry, ConfigError

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many bytes of it, and of how many (0 when nobody knows)."""

_PATIENCE = 600.0
_MOST_BYTES = 2 * 1024**3
_MOST_FILES = 200_000


def installed(entry: RegistryEntry, *, cache: Path | None = None, progress: Progress | None = None) -> AgentEntry:
    """The agent, ready to be started; installed now if it is not there yet."""
    tell = progress or (lambda what, done, of: None)
    home = (cache or cache_folder()) / "agents" / entry.id / entry.version
    ways = entry.distribution
    binary = (ways.binary or {}).get(this_platform())
    if binary is not None:
        command, extra = _binary(home, entry, binary, tell)
        args, env = binary.args, binary.env
    elif ways.npx is not None:
        command, extra = _npm(home, entry, ways.npx, tell), {}
        args, env = ways.npx.args, ways.npx.env
    elif ways.uvx is not None:
        command, extra = _pypi(home, entry, ways.uvx, tell), {}
        args, env = ways.uvx.args, ways.uvx.env
    else:
        known = ", ".join(sorted(ways.binary or {}))
        raise ConfigError(f"{entry.id} {entry.version} has nothing for {this_platform()}; there is: {known}")
    return AgentEntry(
        command=[command, *args],
        env={**env, **extra},
        registry=entry.id,
        version=entry.version,
        description=entry.description,
    )


def _whole(home: Path, make: Callable[[Path], None]) -> None:
    """Makes a folder beside its place and moves it there when it is complete."""
    if home.is_dir():
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".new-") as unfinished:
        inside = Path(unfinished) / "it"
        inside.mkdir()
        make(inside)
        try:
            inside.rename(home)
        except OSError:
            if not home.is_dir():  # somebody else was faster, which is as good
                raise


def _npm(home: Path, entry: RegistryEntry, package: Package, tell: Progress) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise ConfigError(f"{entry.id} is an npm package: install Node.js (with npm), then try again")
    name = _npm_name(package.package)

    def make(inside: Path) -> None:
        tell(f"installing {package.package}", 0, 0)
        _run([npm, "install", "--prefix", str(inside), "--no-audit", "--no-fund", "--loglevel=error", package.package])

    _whole(home, make)
    manifest = home / "node_modules" / name / "package.json"
    try:
        bins = msgspec.json.decode(manifest.read_bytes()).get("bin")
    except (OSError, msgspec.DecodeError, AttributeError):
        raise ConfigError(f"{home}: the package {name} is not whole; remove the folder and try again") from None
    short = name.rsplit("/", 1)[-1]
    program = short if isinstance(bins, str) or not bins or short in bins else next(iter(bins))
    return str(home / "node_modules" / ".bin" / program)


def _npm_name(spec: str) -> str:
    at = spec.find("@", 1)
    return spec if at < 0 else spec[:at]


def _pypi(home: Path, entry: RegistryEntry, package: Package, tell: Progress) -> str:
    name = package.package.split("==")[0].split("@")[0].split("[")[0].strip()

    def make(inside: Path) -> None:
        tell(f"installing {package.package}", 0, 0)
        _run([sys.executable, "-m", "venv", str(inside)])
        pip = [str(inside / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, package.package.replace("@", "==") if "==" not in package.package else package.package])
        # The scripts name their interpreter by its path, which is about to change.
        for script in (inside / "bin").iterdir():
            if script.is_file() and not script.is_symlink():
                text = script.read_bytes()
                if text.startswith(b"#!"):
                    script.write_bytes(text.replace(os.fsencode(inside), os.fsencode(home)))

    _whole(home, make)
    program = home / "bin" / name
    if not program.exists():
        raise ConfigError(f"{entry.id}: the package {name} brings no program of that name")
    return str(program)


def _run(argv: list[str]) -> None:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise ConfigError(f"{os.path.basename(argv[0])} did not finish within {_PATIENCE:g} s") from None
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise ConfigError(f"{os.path.basename(argv[0])} failed with status {done.returncode}: {last}")


def _binary(home: Path, entry: RegistryEntry, binary: Binary, tell: Progress) -> tuple[str, dict[str, str]]:
    def make(inside: Path) -> None:
        with tempfile.NamedTemporaryFile(suffix="-" + binary.archive.rsplit("/", 1)[-1]) as archive:
            _fetch(binary.archive, archive, tell)
            _check(archive.name, binary, entry)
            tell("unpacking", 0, 0)
            unpack(Path(archive.name), inside)
        program = inside / _safe(binary.cmd)
        if not program.is_file():
            raise ConfigError(f"{entry.id}: there is no {binary.cmd} in its archive")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    _whole(home, make)
    return str(home / _safe(binary.cmd)), {}


def _fetch(url: str, into: IO[bytes], tell: Progress) -> None:
    if not url.startswith(("https://", "http://127.0.0.1", "http://localhost", "file://")):
        raise ConfigError(f"{url}: archives are fetched over https only")
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            done = 0
            while chunk := answer.read(1 << 18):
                into.write(chunk)
                done += len(chunk)
                if done > _MOST_BYTES:
                    raise ConfigError(f"{url}: the archive is larger than {_MOST_BYTES} bytes")
                tell("downloading", done, size)
    except OSError as error:
        raise ConfigError(f"{url}: cannot be fetched: {error}") from None
    into.flush()


def _check(path: str, binary: Binary, entry: RegistryEntry) -> None:
    if binary.sha256 is None:
        return
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != binary.sha256.lower():
        raise ConfigError(f"{entry.id}: the archive's checksum is {found}, the registry says {binary.sha256}")


def unpack(archive: Path, inside: Path) -> None:
    """Unpacks a tar or zip archive. Absolute names, `..`, links and devices are refused, whatever else is in it."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            members = bundle.infolist()
            _bounded(len(members), sum(member.file_size for member in members))
            for member in members:
                kind = stat.S_IFMT(member.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise ConfigError(f"the archive holds {member.filename!r}, which is no plain file")
                target = inside / _safe(member.filename)
                if member.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with bundle.open(member) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                target.chmod((member.external_attr >> 16) & 0o755 or 0o644)
        return
    try:
        with tarfile.open(archive) as tar:
            entries = tar.getmembers()
            _bounded(len(entries), sum(entry.size for entry in entries))
            _unpack_tar(tar, entries, inside)
    except tarfile.TarError as error:
        raise ConfigError(f"the archive cannot be read: {error}") from None


def _unpack_tar(tar: tarfile.TarFile, entries: Iterable[tarfile.TarInfo], inside: Path) -> None:
    for entry in entries:
        target = inside / _safe(entry.name)
        if entry.isdir():
            target.mkdir(parents=True, exist_ok=True)
        elif entry.isreg():
            target.parent.mkdir(parents=True, exist_ok=True)
            source = tar.extractfile(entry)
            assert source is not None
            with source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            target.chmod(entry.mode & 0o755 or 0o644)
        else:
            raise ConfigError(f"the archive holds {entry.name!r}, which is no plain file")


def _bounded(files: int, size: int) -> None:
    if files > _MOST_FILES or size > _MOST_BYTES:
        raise ConfigError(f"the archive would unpack to {files} files and {size} bytes, which is too much")


def _safe(name: str) -> Path:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or (parts.parts and ":" in parts.parts[0]) or "\0" in name:
        raise ConfigError(f"the archive holds {name!r}, which leads outside of it")
    return Path(*parts.parts) if parts.parts else Path(".")

"""The ACP registry: one JSON document of agents and how each is distributed. Read from a file or URL the user gives.

Nothing is fetched uninvited: what a URL gave is kept, and used until the user asks for it anew. An entry that cannot
be read is left out and said so; the others are used."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from accord.config.documents import read_object
from accord.config.fetch import fetch, is_url
from accord.config.folders import cache_folder
from accord.errors import ConfigError

_ID = re.compile(r"[a-z][a-z0-9-]*")
_VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]*)?")
_MOST_BYTES = 32 * 1024 * 1024


class Package(msgspec.Struct, forbid_unknown_fields=True):
    """An npm or PyPI package whose program is the agent."""

    package: str
    args: list[str] = []
    env: dict[str, str] = {}


class Binary(msgspec.Struct, kw_only=True):
    """An archive for one platform, and the program in it."""

    archive: str
    cmd: str
    args: list[str] = []
    env: dict[str, str] = {}
    sha256: str | None = None


class Distribution(msgspec.Struct, forbid_unknown_fields=True):
    """The ways to get an agent."""

    npx: Package | None = None
    uvx: Package | None = None
    binary: dict[str, Binary] | None = None


class RegistryEntry(msgspec.Struct, kw_only=True):
    """One agent of the registry."""

    id: str
    name: str
    version: str
    description: str
    distribution: Distribution
    repository: str | None = None
    website: str | None = None
    authors: list[str] = []
    license: str | None = None
    icon: str | None = None


class Registry(NamedTuple):
    """What a registry file holds: its entries by id, and what was wrong with the rest."""

    entries: dict[str, RegistryEntry]
    faults: list[str]


def read_registry(source: str | Path, *, anew: bool = False, cache: Path | None = None) -> Registry:
    """Reads a registry: the aggregated document, or a single `agent.json`; `anew` fetches it again."""
    path = _kept(str(source), anew, cache) if is_url(str(source)) else Path(source).expanduser()
    document = read_object(path, str(source))
    listed = document.get("agents", [document])
    if not isinstance(listed, list):
        raise ConfigError(f"{source}: agents must be a list")
    entries: dict[str, RegistryEntry] = {}
    faults: list[str] = []
    for number, raw in enumerate(listed):
        name = raw.get("id") if isinstance(raw, dict) else None
        try:
            entry = _entry(raw)
        except (msgspec.ValidationError, ValueError) as error:
            faults.append(f"{source}: entry {name or number}: {str(error).replace('`', '')}")
            continue
        entries[entry.id] = entry
    return Registry(entries, faults)


def _kept(url: str, anew: bool, cache: Path | None) -> Path:
    """The copy of a registry that is behind a URL."""
    folder = (cache or cache_folder()) / "registries"
    path = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
    if path.is_file() and not anew:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as new:
        try:
            fetch(url, new, most=_MOST_BYTES)
            read_object(new.name, url)
            Path(new.name).replace(path)
        finally:
            Path(new.name).unlink(missing_ok=True)
    return path


def _entry(raw: Any) -> RegistryEntry:
    entry: RegistryEntry = msgspec.convert(raw, RegistryEntry)
    if not _ID.fullmatch(entry.id):
        raise ValueError(f"the id {entry.id!r} must be lower-case letters, digits and hyphens, a letter first")
    if not _VERSION.fullmatch(entry.version):
        raise ValueError(f"the version {entry.version!r} is no semantic version")
    ways = entry.distribution
    if ways.npx is None and ways.uvx is None and not ways.binary:
        raise ValueError("the distribution names no way to get it: npx, uvx or binary")
    return entry


def this_platform() -> str:
    """What the registry calls this machine: `linux-x86_64`, `darwin-aarch64`, …"""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    return f"{system}-{'aarch64' if machine in ('arm64', 'aarch64') else 'x86_64'}"

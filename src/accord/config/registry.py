"""The ACP registry: a JSON document of agents and how each is distributed, from a file or URL that the user gives.

A document from a URL is cached, and only fetched again on request. Invalid entries are skipped and reported; the others
are used."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from accord.config.directories import cache_directory
from accord.config.download import fetched, is_url
from accord.config.files import read_object
from accord.errors import ConfigError

ID = re.compile(r"[a-z][a-z0-9-]*")
VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]*)?")
_MAX_BYTES = 32 * 1024 * 1024


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
    """The entries of a registry by id, and the problems with the rest."""

    entries: dict[str, RegistryEntry]
    problems: list[str]


def read_registry(source: str | Path, *, refresh: bool = False, cache: Path | None = None) -> Registry:
    """Read a registry: the aggregated document, or a single `agent.json`; `refresh` fetches it again."""
    path = _fetch_cached(str(source), refresh, cache) if is_url(str(source)) else Path(source).expanduser()
    document = read_object(path, str(source))
    listed = document.get("agents", [document])
    if not isinstance(listed, list):
        raise ConfigError(f"{source}: agents must be a list")
    entries: dict[str, RegistryEntry] = {}
    problems: list[str] = []
    for number, raw in enumerate(listed):
        name = raw.get("id") if isinstance(raw, dict) else None
        try:
            entry = _entry(raw)
        except (msgspec.ValidationError, ValueError) as error:
            problems.append(f"{source}: entry {name or number}: {str(error).replace('`', '')}")
            continue
        entries[entry.id] = entry
    return Registry(entries, problems)


def read_cached(url: str, *, cache: Path | None = None) -> dict[str, RegistryEntry]:
    """Return the entries of the cached copy of a registry; none without a copy. Never uses the network."""
    try:
        return read_registry(url, cache=cache).entries if _cached_file(url, cache).is_file() else {}
    except ConfigError:
        return {}


def _cached_file(url: str, cache: Path | None) -> Path:
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
    return (cache or cache_directory()) / "registries" / name


def _fetch_cached(url: str, refresh: bool, cache: Path | None) -> Path:
    """Return the cached copy of a registry at a URL."""
    path = _cached_file(url, cache)
    if path.is_file() and not refresh:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with fetched(url, path.parent, max_bytes=_MAX_BYTES) as new:
        read_object(new, url)
        new.replace(path)
    return path


def _entry(raw: Any) -> RegistryEntry:
    entry: RegistryEntry = msgspec.convert(raw, RegistryEntry)
    if not ID.fullmatch(entry.id):
        raise ValueError(
            f"the id {entry.id!r} must consist of lowercase letters, digits and hyphens, and start with a letter"
        )
    if not VERSION.fullmatch(entry.version):
        raise ValueError(f"the version {entry.version!r} isn't a semantic version")
    ways = entry.distribution
    if ways.npx is None and ways.uvx is None and not ways.binary:
        raise ValueError("the distribution has none of npx, uvx and binary")
    return entry


def this_platform() -> str:
    """Return the registry's name for this platform: `linux-x86_64`, `darwin-aarch64`, …"""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    return f"{system}-{'aarch64' if machine in ('arm64', 'aarch64') else 'x86_64'}"

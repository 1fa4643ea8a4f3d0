"""Check an `agent.json` before it is submitted to the ACP registry. Stricter than reading a registry: every violation
is reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from accord.config.files import read_object
from accord.config.registry import ID, VERSION

_SYSTEMS = ("darwin", "linux", "windows")
_PROCESSORS = ("aarch64", "x86_64")
_PACKAGE_FIELDS: dict[str, type] = {"package": str, "args": list, "env": dict}
_BINARY_FIELDS: dict[str, type] = {"archive": str, "cmd": str, "args": list, "env": dict, "sha256": str}
_FIELDS: dict[str, type] = {
    "id": str,
    "name": str,
    "version": str,
    "description": str,
    "distribution": dict,
    "repository": str,
    "website": str,
    "authors": list,
    "license": str,
    "icon": str,
}
_REQUIRED = ("id", "name", "version", "description", "distribution")
_TYPES: dict[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}
_PAINT = re.compile(r"(?:fill|stroke|stop-color|color)\s*[:=]\s*[\"']?\s*([^\"';\s>]+)")
_ICON_SIZE = 16


def lint(path: Path) -> list[str]:
    """Return the problems of a manifest, each with the field it is about. Empty if it can be submitted."""
    manifest = read_object(path, str(path))
    problems = _check_fields(manifest, _FIELDS, _REQUIRED, "")
    id, version, ways = manifest.get("id"), manifest.get("version"), manifest.get("distribution")
    if isinstance(id, str) and not ID.fullmatch(id):
        problems.append(f"id: {id!r} must consist of lowercase letters, digits and hyphens, and start with a letter")
    if isinstance(version, str) and not VERSION.fullmatch(version):
        problems.append(f"version: {version!r} isn't a semantic version such as 1.0.0")
    if isinstance(ways, dict):
        problems += _check_distribution(ways)
    license = manifest.get("license")
    if isinstance(license, str) and (not license.strip() or license != license.strip()):
        problems.append("license: write an SPDX identifier such as Apache-2.0, or proprietary")
    if isinstance(manifest.get("icon"), str):
        problems += _check_icon(path.parent, manifest["icon"])
    return problems


def check_directory(path: Path) -> list[str]:
    """Return the problem of a manifest whose directory isn't named after its id, as the registry requires."""
    id, directory = read_object(path, str(path)).get("id"), path.absolute().parent.name
    return [] if id == directory else [f"id: {id!r} must be the name of its directory, {directory!r}"]


def _check_fields(given: dict[str, Any], known: dict[str, type], required: tuple[str, ...], where: str) -> list[str]:
    problems = [f"{where}{name}: missing" for name in required if name not in given]
    for name, value in given.items():
        if name not in known:
            problems.append(f"{where}{name}: unknown field; known are {', '.join(known)}")
        elif not _is_valid(value, known[name]):
            problems.append(f"{where}{name}: must be {_TYPES[known[name]]}")
        elif value == "" and name in required:
            problems.append(f"{where}{name}: is empty")
    return problems


def _is_valid(value: Any, expected: type) -> bool:
    if expected is list:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, expected)


def _check_distribution(ways: dict[str, Any]) -> list[str]:
    problems = [
        f"distribution.{name}: unknown; known are npx, uvx, binary"
        for name in ways
        if name not in ("npx", "uvx", "binary")
    ]
    if not any(name in ways for name in ("npx", "uvx", "binary")):
        problems.append("distribution: needs npx, uvx or binary")
    for name in ("npx", "uvx"):
        package = ways.get(name)
        if isinstance(package, dict):
            problems += _check_fields(package, _PACKAGE_FIELDS, ("package",), f"distribution.{name}.")
            problems += _check_environment(package.get("env"), f"distribution.{name}.env")
        elif name in ways:
            problems.append(f"distribution.{name}: must be an object")
    if "binary" in ways:
        problems += _check_binary(ways["binary"])
    return problems


def _check_environment(env: Any, where: str) -> list[str]:
    if not isinstance(env, dict):
        return []
    return [f"{where}.{name}: must be a string" for name, value in env.items() if not isinstance(value, str)]


def _check_binary(platforms: Any) -> list[str]:
    if not isinstance(platforms, dict):
        return ["distribution.binary: must be an object of platforms"]
    known = [f"{system}-{processor}" for system in _SYSTEMS for processor in _PROCESSORS]
    problems = []
    for name, archive in platforms.items():
        where = f"distribution.binary.{name}"
        if name not in known:
            problems.append(f"{where}: unknown platform; known are {', '.join(known)}")
        elif not isinstance(archive, dict):
            problems.append(f"{where}: must be an object")
        else:
            problems += _check_fields(archive, _BINARY_FIELDS, ("archive", "cmd"), f"{where}.")
            problems += _check_environment(archive.get("env"), f"{where}.env")
    missing = [system for system in _SYSTEMS if not any(name.startswith(f"{system}-") for name in platforms)]
    if missing:
        problems.append(f"distribution.binary: has no archive for {', '.join(missing)}")
    return problems


def _check_icon(directory: Path, icon: str) -> list[str]:
    """Check an icon that lies next to the manifest; others can't be read here."""
    if "://" in icon:
        return []
    try:
        text = (directory / icon).read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        return [f"icon: {icon} can't be read as SVG: {error}"]
    problems = []
    box = (root.get("viewBox") or "").replace(",", " ").split()
    sizes = [root.get("width"), root.get("height")]
    is_right = box == ["0", "0", "16", "16"] or (not box and sizes == ["16", "16"])
    if not root.tag.endswith("svg") or not is_right or any(size not in (None, "16", "16px") for size in sizes):
        problems.append(f"icon: {icon} must be an SVG of {_ICON_SIZE}×{_ICON_SIZE}")
    colors = sorted(set(_PAINT.findall(text)) - {"none", "currentColor"})
    if colors:
        problems.append(f"icon: {icon} uses {', '.join(colors)}; only currentColor and none are allowed")
    return problems


def check_handshake(methods: list[str]) -> list[str]:
    """Check the kinds of the login methods that an agent offers: a listed agent needs one."""
    if any(kind in ("agent", "terminal") for kind in methods):
        return []
    return ["the agent offers no login method of the kind agent or terminal (auth_methods); the registry requires one"]

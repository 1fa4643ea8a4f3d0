"""Wheels of the installed packages, so that a test can install projects as users do, but without a network."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def build_wheelhouse(folder: Path, requirements: Iterable[str]) -> None:
    """Write wheels of Accord, of these requirements and of everything that they need."""
    command = [sys.executable, "-P", "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    for found in resolve(requirements):
        pack(found, folder)


def resolve(requirements: Iterable[str]) -> Iterator[Distribution]:
    """Yield the installed distributions that fulfill these requirements, except Accord."""
    waiting, seen = [Requirement(each) for each in requirements], set()
    while waiting:
        wanted = waiting.pop()
        key = wanted.name, frozenset(wanted.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:
            continue  # for another platform
        if wanted.name != "accord-acp":
            yield found
        for text in found.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": name}) for name in ["", *wanted.extras]):
                waiting.append(needed)


def pack(found: Distribution, folder: Path) -> None:
    """Write an installed distribution as a wheel."""
    files = [file for file in found.files or [] if ".." not in file.parts and file.suffix != ".pyc"]
    (info,) = {file.parts[0] for file in files if file.name == "WHEEL"}
    tags = re.findall(r"^Tag: (\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    target = folder / f"{info.removesuffix('.dist-info')}-{tags[0]}.whl"
    if not target.exists():  # asked for with other extras
        with zipfile.ZipFile(target, "w") as wheel:
            for file in files:
                wheel.write(str(file.locate()), str(file))

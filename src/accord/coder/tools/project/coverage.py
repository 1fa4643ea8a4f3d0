"""Describe what a search without results covered: how many files were searched, and which were skipped and why."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import msgspec

from accord.coder.tools.base import ToolContext
from accord.coder.tools.project.paths import Found, relative
from accord.coder.tools.project.walk import Walk, read_bytes
from accord.coder.tools.text import count_of, format_size, one_line
from accord.workspace.disk import Disk
from accord.workspace.globs import compile_name_glob

MAX_SECONDS = 5.0
MAX_PROBED = 2_000
"""The most files that are opened to see whether they are binary."""
PROBE_BYTES = 8_000
MAX_NAMED = 5
MAX_NAME = 80


class Coverage(msgspec.Struct, kw_only=True):
    """The files below a path, by what a search does with them."""

    where: str
    searched: int = 0
    ignored: list[str] = []
    binary: list[str] = []
    large: list[str] = []
    links: list[str] = []
    unmatched: int = 0
    """Files that the glob excludes."""
    is_complete: bool = True

    def describe(self) -> str:
        """Describe the number of files: `in 12 files of src`."""
        least = "" if self.is_complete else "at least "
        where = " of the working directory" if self.where == "." else f" of {self.where}"
        return f"in {least}{count_of(self.searched, 'file')}{where}"

    def notes(self, glob: str | None, max_bytes: int) -> list[str]:
        """Return notes for the model about the files that were skipped."""
        reasons = [
            *_name(self.ignored, "ignored by .gitignore"),
            *_name(self.binary, "binary"),
            *_name(self.large, f"larger than {format_size(max_bytes)}"),
            *_name(self.links, "links, which aren't followed"),
        ]
        if self.unmatched:
            reasons.append(f"{count_of(self.unmatched, 'file')} excluded by the glob {glob}")
        return [f"[skipped: {'; '.join(reasons)}]"] if reasons else []


async def survey(ctx: ToolContext, where: Found, glob: str | None, max_bytes: int) -> Coverage:
    """Sort the files that a search visits. Reads at most the beginning of each."""
    place = ctx.state.files.outside if where.is_outside else ctx.state.files.disk
    name = relative(ctx, where.path)
    if where.kind == "file":
        return await place.run_blocking(lambda call: _survey_file(place.disk, where, name, max_bytes))
    return await place.run_blocking(
        lambda call: _survey_directory(place.disk, where, name, glob, max_bytes, check_wanted=call.check_wanted)
    )


def _survey_file(disk: Disk, where: Found, name: str, max_bytes: int) -> Coverage:
    coverage = Coverage(where=name)
    if where.size > max_bytes:
        coverage.large = [name]
    elif _is_binary(disk, where.real):
        coverage.binary = [name]
    else:
        coverage.searched = 1
    return coverage


def _survey_directory(
    disk: Disk, where: Found, name: str, glob: str | None, max_bytes: int, *, check_wanted: Callable[[], None]
) -> Coverage:
    coverage = Coverage(where=name)
    is_wanted = _compile_filter(glob)
    walk = Walk(disk, where.root_real, where.real, check_wanted=check_wanted)
    end = time.monotonic() + MAX_SECONDS
    for number, step in enumerate(walk.steps(with_ignored=True)):
        if time.monotonic() > end:
            coverage.is_complete = False
            break
        below = os.path.relpath(step.path, where.real)
        if step.ignored:
            coverage.ignored.append(f"{below}/" if step.entry.kind == "directory" else below)
        elif step.entry.kind == "link":
            coverage.links.append(below)
        elif step.entry.kind != "file":
            continue
        elif not is_wanted(os.path.relpath(step.path, where.root_real)):
            coverage.unmatched += 1
        elif step.entry.size > max_bytes:
            coverage.large.append(below)
        elif number < MAX_PROBED and _is_binary(disk, step.path):
            coverage.binary.append(below)
        else:
            coverage.searched += 1
    coverage.is_complete &= not walk.is_truncated
    return coverage


def _compile_filter(glob: str | None) -> Callable[[str], bool]:
    if not glob:
        return lambda name: True
    pattern = compile_name_glob(glob.removeprefix("!"))
    if not glob.startswith("!"):
        return lambda name: pattern.fullmatch(name) is not None
    # An excluded directory excludes everything below it.
    return lambda name: (
        not any(
            pattern.fullmatch(name[:at]) for at in [*(at for at, char in enumerate(name) if char == "/"), len(name)]
        )
    )


def _is_binary(disk: Disk, path: str) -> bool:
    return b"\0" in read_bytes(disk, path, PROBE_BYTES)


def _name(paths: list[str], reason: str) -> list[str]:
    """Describe a reason with the first of its files; empty if there are none."""
    if not paths:
        return []
    named = ", ".join(one_line(path, MAX_NAME) for path in paths[:MAX_NAMED])
    more = f" and {len(paths) - MAX_NAMED:,} more" if len(paths) > MAX_NAMED else ""
    return [f"{reason}: {named}{more}"]

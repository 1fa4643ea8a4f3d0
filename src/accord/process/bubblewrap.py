"""Command lines for bubblewrap (`bwrap`), which runs a program in namespaces with its own view of the file system.

Support is detected by a test run: version numbers don't show whether the kernel, a security module or a container
forbids user namespaces."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

PROBE_SECONDS = 30.0
INSTALL = "install the package bubblewrap"

Access = Literal["write", "read", "hide"]
_STRICTNESS: dict[Access, int] = {"write": 0, "read": 1, "hide": 2}


class Mount(NamedTuple):
    """The access to a path inside the sandbox. The path has no symbolic links."""

    path: str
    access: Access
    source: str = ""
    """The path outside the sandbox; the same path if empty."""
    is_file: bool = False


def isolation(*, network: bool) -> list[str]:
    """Return the options for namespaces: the program sees no other processes, and ends with the one that started it."""
    words = ["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    return words if network else [*words, "--unshare-net"]


def strict_isolation(*, network: bool) -> list[str]:
    """Return the same options, plus no capabilities and no access to the terminal. Requires user namespaces."""
    words = ["--unshare-user", "--unshare-cgroup-try", "--cap-drop", "ALL", "--new-session"]
    return [*isolation(network=network), *words]


def proc_words() -> list[str]:
    """Return the options for `/proc`: settings of the kernel are read-only.

    bwrap covers them itself only where it finds them writable before it drops its rights, so that root could change
    `kernel.core_pattern`, which names a program that the kernel runs."""
    words = ["--proc", "/proc"]
    for name in ("sys", "sysrq-trigger", "irq", "bus", "acpi", "fs"):
        if os.path.exists(f"/proc/{name}"):
            words += ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
    return words


def mount_words(mounts: Iterable[Mount]) -> list[str]:
    """Return the options for mounts on top of a read-only file system. For each path, the innermost mount applies."""
    words = ["--ro-bind", "/", "/", "--dev", "/dev", *proc_words()]
    ordered = sorted(set(mounts), key=lambda mount: (mount.path.count("/"), mount.path, _STRICTNESS[mount.access]))
    for mount in ordered:
        match mount.access:
            case "hide":
                words += ["--ro-bind", os.devnull, mount.path] if mount.is_file else ["--tmpfs", mount.path]
            case "read":
                words += ["--ro-bind", mount.source or mount.path, mount.path]
            case "write":
                words += ["--bind", mount.source or mount.path, mount.path]
    return words


def probe(program: str, words: Sequence[str], test: Sequence[str] = ("true",)) -> str:
    """Run a harmless command in a sandbox. Return the problem, or an empty string if it works."""
    try:
        done = subprocess.run(
            [program, *words, "--", *test],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap can't be started: {error}"
    if done.returncode != 0:
        return f"bwrap can't create a sandbox here: {done.stderr.strip()}; the system may forbid user namespaces"
    return ""

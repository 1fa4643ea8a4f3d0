"""What an agent finds in its environment: ours, the bare necessities, or what the user's login shell has."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Literal

from accord.errors import LaunchError

Source = Literal["inherit", "minimal", "login-shell"]
_NECESSITIES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
_WINDOWS = ("SYSTEMROOT", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP")
_PATIENCE = 10.0


def environment(source: Source, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a new agent; `extra` wins."""
    if source == "inherit":
        base = dict(os.environ)
    elif source == "minimal":
        base = {name: os.environ[name] for name in (*_NECESSITIES, *_WINDOWS) if name in os.environ}
    else:
        base = login_shell()
    return {**base, **extra}


def login_shell() -> dict[str, str]:
    """What a login shell would have: editors started from a desktop do not."""
    shell = os.environ.get("SHELL") or "/bin/sh"
    mark = "accord-environment-begins"
    try:
        done = subprocess.run(
            [shell, "-l", "-c", f"echo {mark}; env -0"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise LaunchError(
            f'the login shell {shell} did not give its environment ({error}); use environment = "inherit"',
            stage="resolve",
        ) from None
    # A profile may print things of its own before.
    _, _, told = done.stdout.partition(mark.encode() + b"\n")
    pairs = (entry.partition(b"=") for entry in told.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}

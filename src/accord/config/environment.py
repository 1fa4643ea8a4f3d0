"""What an agent finds in its environment: ours, the bare necessities, or what the user's login shell has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from accord.errors import LaunchError

Source = Literal["inherit", "minimal", "login-shell"]
_NECESSITIES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
_WINDOWS = ("SYSTEMROOT", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP")
_PATIENCE = 10.0
_MARK = "accord-environment-begins"


def environment(source: Source, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a new agent; `extra` wins."""
    if source == "inherit":
        base = dict(os.environ)
    elif source == "minimal":
        base = {name: os.environ[name] for name in (*_NECESSITIES, *_WINDOWS) if name in os.environ}
    else:
        base = login_shell()
    return {**base, **extra}


def login_shell(patience: float = _PATIENCE) -> dict[str, str]:
    """What a login shell would have: editors started from a desktop do not."""
    from accord.config.running import run

    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        done = run([shell, "-l", "-c", f"echo {_MARK}; env -0"], timeout=patience)
    except LaunchError as error:
        raise _without(shell, str(error)) from None
    # A profile may print things of its own before.
    _, mark, told = done.output.partition(_MARK.encode() + b"\n")
    if done.status != 0 or not mark:
        how = f"no end within {patience:g} s" if done.status is None else f"it ended with status {done.status}"
        last = (done.complaints.strip().splitlines() or ["it said nothing"])[-1]
        raise _without(shell, f"{how}: {last}")
    pairs = (entry.partition(b"=") for entry in told.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _without(shell: str, why: str) -> LaunchError:
    return LaunchError(
        f'the login shell {shell} did not give its environment ({why}); use environment = "inherit"', stage="resolve"
    )

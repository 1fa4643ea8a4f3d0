"""The environment of an agent: ours, a minimal one, or that of the user's login shell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from accord.errors import LaunchError

Source = Literal["inherit", "minimal", "login-shell"]
_NECESSITIES = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ")
_WINDOWS = ("SYSTEMROOT", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP")
_TIMEOUT_SECONDS = 10.0
_MARK = "accord-environment-begins"


def environment(source: Source, extra: Mapping[str, str]) -> dict[str, str]:
    """Build the environment of a new agent; `extra` overrides it."""
    if source == "inherit":
        base = dict(os.environ)
    elif source == "minimal":
        base = {name: os.environ[name] for name in (*_NECESSITIES, *_WINDOWS) if name in os.environ}
    else:
        base = login_shell()
    return {**base, **extra}


def login_shell(timeout: float = _TIMEOUT_SECONDS) -> dict[str, str]:
    """Return the environment of a login shell, which editors started from a desktop lack."""
    from accord.config.programs import run

    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        done = run([shell, "-l", "-c", f"echo {_MARK}; env -0"], timeout=timeout)
    except LaunchError as error:
        raise _without(shell, str(error)) from None
    # The user's profile may print something first.
    _, mark, listing = done.output.partition(_MARK.encode() + b"\n")
    if done.status != 0 or not mark:
        how = f"it took longer than {timeout:g} s" if done.status is None else f"exit status {done.status}"
        last = (done.complaints.strip().splitlines() or ["no error message"])[-1]
        raise _without(shell, f"{how}: {last}")
    pairs = (entry.partition(b"=") for entry in listing.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _without(shell: str, why: str) -> LaunchError:
    return LaunchError(
        f'the login shell {shell} didn\'t return its environment ({why}); use environment = "inherit"', stage="resolve"
    )

"""Errors of commands: the exception that ends one, and advice that only a command can give."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from accord.errors import AuthRequired, DeadlineExceeded, VersionError


class CommandError(Exception):
    """Ends a command with a message and an exit status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def is_debugging() -> bool:
    """Return whether the user wants tracebacks and debug logs."""
    return os.environ.get("ACCORD_DEBUG", "") not in ("", "0")


def configure_logging() -> None:
    """Print the library's log only when debugging."""
    import logging

    if is_debugging():
        logging.basicConfig(level=logging.DEBUG)
    else:
        logging.getLogger("accord").addHandler(logging.NullHandler())


TRY_VERSION_2 = "it may support only version 2: try --v2"


def suggest(error: Exception, logins: Sequence[str], versions: Collection[int], *, can_ask: bool) -> str:
    """Return text to append to an error message, or an empty string. `logins` are the agent's login methods."""
    if isinstance(error, AuthRequired):
        if error.method == "initialize":  # from `accord connect`, whose server refused the token
            return "\nSet ACCORD_TOKEN, or save a token: accord connect URL --save-token"
        if not logins:
            return "; log in with the agent's own program first"
        if "accord login" in str(error):  # it says already what to do
            return ""
        where = "" if can_ask else ": run this command once in a terminal"
        return f"; log in first, with {' or '.join(map(repr, logins))}{where}"
    if isinstance(error, VersionError) and 2 not in versions:
        return f"; {TRY_VERSION_2}"
    if isinstance(error, DeadlineExceeded):
        from accord.config.settings import WAITS, user_config

        if error.stage in WAITS:
            key = f"'{error.stage}'" if " " in error.stage else error.stage
            return f"; if it just needs more time, set {key} under [deadlines] in {user_config()}"
    return ""

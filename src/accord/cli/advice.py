"""What to do about a failure, where its message cannot know: how to log in here, how to wait longer here."""

from __future__ import annotations

from collections.abc import Sequence

from accord.errors import AuthRequired, DeadlineExceeded


def advice(error: Exception, logins: Sequence[str], *, can_ask: bool) -> str:
    """Words to go behind the message; nothing where it says enough. `logins` are the agent's ways to log in."""
    if isinstance(error, AuthRequired):
        ways = " or ".join(map(repr, logins))
        return f"; log in first{f', with {ways}' if ways else ''}{'' if can_ask else ': run this once on a terminal'}"
    if isinstance(error, DeadlineExceeded):
        from accord.config.settings import WAITS, user_config

        if error.stage in WAITS:
            key = f"'{error.stage}'" if " " in error.stage else error.stage
            return f"; if it only needs longer, set {key} under [deadlines] in {user_config()}"
    return ""

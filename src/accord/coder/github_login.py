"""Log in to GitHub Copilot with a code that the user enters at github.com (the device flow)."""

from __future__ import annotations

import asyncio
import os

CLIENT_VARIABLE = "ACCORD_GITHUB_CLIENT_ID"
"""The client id of an OAuth application that the user or their company has registered at GitHub."""


def client_id() -> str | None:
    """Return the OAuth application to log in with, if there is one. Accord doesn't use that of another editor."""
    return os.environ.get(CLIENT_VARIABLE, "").strip() or None


def log_in_with_code(client: str) -> str:
    """Show a code, wait until the user has entered it, and return the token. Raises `LoginError`."""
    return asyncio.run(_log_in(client))


async def _log_in(client: str) -> str:
    import click

    from accord.coder.login import LoginError
    from accord.version import install_command

    try:
        import httpx2
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.providers.github_copilot import GitHubCopilotOAuthFlow
    except ImportError:
        raise LoginError(f"logging in needs a package: {install_command('coder')}") from None
    flow = GitHubCopilotOAuthFlow(client_id=client)
    try:
        challenge = await flow.start()
        click.echo(f"Open {challenge.verification_uri} and enter this code: {challenge.user_code}", err=True)
        credentials = await flow.wait_for_authorization()
    except UserError as error:
        raise LoginError(f"{error} Nothing was saved.") from None
    except httpx2.HTTPError as error:
        raise LoginError(f"couldn't reach github.com ({error}); nothing was saved") from None
    return str(credentials.access_token)
